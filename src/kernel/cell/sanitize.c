/* How the sanitized kernel (MODE=asan) reports: with a stack for every kind of error, as addresses
 * in the program. It cannot look for names: there are no files where it lives, and no process to
 * start. */
#ifdef __SANITIZE_ADDRESS__
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

const char *__asan_default_options(void)
{
	return "symbolize=0";
}

const char *__ubsan_default_options(void)
{
	return "symbolize=0:print_stacktrace=1";
}
#else
/* ISO C wants a file to have something in it. */
typedef int sanitize_unused;
#endif
