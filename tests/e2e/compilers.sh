# gcc, g++, binutils and make: compile in the cell, run in the cell. shellcheck shell=bash

same 'gcc: compile, link, run, libraries @r' bash <<'EOF'
set -e
cat >hello.c <<'C'
#include <stdio.h>
#include <math.h>
int add(int a, int b);
int main(int argc, char **argv) { printf("%s %d %.3f\n", argc > 1 ? argv[1] : "-", add(2, 3), sqrt(2)); return argc - 1; }
C
echo 'int add(int a, int b) { return a + b; }' >add.c
gcc -O2 -Wall -c hello.c add.c; gcc hello.o add.o -lm -o a; ./a; ./a x || echo $?
ar rcs libadd.a add.o; gcc hello.o -L. -ladd -lm -o b; ./b; nm libadd.a | grep add
gcc -shared -fPIC add.c -o libadd.so; gcc hello.c -L. -ladd -lm -Wl,-rpath,"$PWD" -o c; ./c; gcc -static -O1 hello.c add.c -lm -o d; ./d
echo 'int main(void) { return undeclared; }' >bad.c; gcc bad.c 2>&1 | sed 's/^[^:]*://' || true; gcc -E -dM - </dev/null | grep -c __x86_64__
gcc -S -O1 add.c -o - | md5sum; objdump -d add.o | grep -c ret; size add.o | tail -n 1; strip a; ./a; strings a | grep -c printf; readelf -h a | grep Type; gcc -flto -O2 hello.c add.c -lm -o e; ./e
md5sum hello.o add.o libadd.so
EOF

same 'gcc: sanitizers find what they should' bash <<'EOF'
cat >a.c <<'C'
#include <stdlib.h>
#include <stdio.h>
int main(int argc, char **argv) { char *p = malloc(10); printf("start\n"); fflush(stdout); p[argc > 1 ? 12 : 3] = 1; free(p); return 0; }
C
gcc -g -fsanitize=address,undefined a.c -o a && ASAN_OPTIONS=detect_leaks=0 ./a; echo $?; ASAN_OPTIONS=detect_leaks=0 ./a x 2>&1 | grep -o 'heap-buffer-overflow' | head -n 1
EOF

same 'g++: templates, exceptions, threads' bash <<'EOF'
cat >a.cc <<'C'
#include <algorithm>
#include <atomic>
#include <future>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include <filesystem>
#include <fstream>
struct Deep { ~Deep() { std::cout << "unwound\n"; } };
static void thrower(int n) { Deep d; if (!n) throw std::runtime_error("thrown"); thrower(n - 1); }
int main() {
	std::map<std::string, int> m{{"b", 2}, {"a", 1}}; for (auto &[k, v] : m) std::cout << k << v << '\n';
	try { thrower(3); } catch (const std::exception &e) { std::cout << e.what() << '\n'; }
	std::atomic<int> n{0}; std::vector<std::thread> ts; for (int i = 0; i < 8; i++) ts.emplace_back([&] { for (int j = 0; j < 10000; j++) n++; }); for (auto &t : ts) t.join(); std::cout << n << '\n';
	auto f = std::async(std::launch::async, [] { return 42; }); std::cout << f.get() << '\n';
	std::ofstream("file") << "text"; std::cout << std::filesystem::file_size("file") << std::filesystem::exists("none") << '\n';
	std::vector<int> v(100000); for (size_t i = 0; i < v.size(); i++) v[i] = int(i * 7919 % 100003); std::sort(v.begin(), v.end()); std::cout << v[5000] << '\n';
}
C
g++ -std=c++17 -O1 -pthread a.cc -o a && ./a
EOF

same 'make -j4 of a project with 30 files @r' bash <<'EOF'
mkdir src; { echo 'int main(void) { long s = 0;'; for i in $(seq 30); do echo "s += f$i($i);"; done; echo 'printf("%ld\n", s); return 0; }'; } >body
{ echo '#include <stdio.h>'; echo '#include "all.h"'; cat body; } >src/main.c
for i in $(seq 30); do echo "long f$i(long x);" >>src/all.h; printf '#include "all.h"\n#include <string.h>\nlong f%d(long x) { return x * %d + (long)strlen("%d"); }\n' $i $i $i >src/f$i.c; done
cat >Makefile <<'M'
SRC := $(wildcard src/*.c)
OBJ := $(SRC:src/%.c=obj/%.o)
app: $(OBJ) ; $(CC) -o $@ $(OBJ)
obj/%.o: src/%.c | obj ; $(CC) -O1 -MMD -c -o $@ $<
obj: ; mkdir -p $@
-include $(OBJ:.o=.d)
clean: ; rm -rf obj app
M
make -j4 >log 2>&1; echo $?; grep -c -- -c log; ./app; make | tail -n 1; sleep 0.01; touch src/f7.c; make 2>&1 | grep -c -- ' -c '; echo 'x' >>src/f9.c; make -k -j4 >/dev/null 2>&1; echo $?; make clean; ls
EOF
