/* The reader of S3's answers, and the rules for keys. */
/* objects: src/s3/xml.c */
#include <stdio.h>
#include <string.h>

#include "wire/s3.h"
#include "s3/xml.h"
#include "tap.h"

#define HEAD "<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"

static struct listing_entry seen[8];
static int count;

static bool on_entry(struct listing *l, const struct listing_entry *e)
{
	(void)l;
	if (count < 8)
		seen[count] = *e;
	count++;
	return true;
}

static struct listing ls;

static bool parse(const char *text)
{
	count = 0;
	memset(seen, 0, sizeof(seen));
	ls = (struct listing){ .entry = on_entry };
	return listing_parse(&ls, text, strlen(text));
}

static bool key_ok(const char *s)
{
	return s3_key_ok(s, strlen(s));
}

static void listings(void)
{
	ok(parse(HEAD "<Name>b</Name><IsTruncated>false</IsTruncated><Contents><Key>a/b.txt</Key>"
		      "<LastModified>2024-01-31T12:34:56.000Z</LastModified><ETag>&quot;abc&quot;</ETag><Size>1234</Size>"
		      "<Owner><ID>1</ID></Owner></Contents><CommonPrefixes><Prefix>a/d/</Prefix></CommonPrefixes></ListBucketResult>"),
	   "a listing");
	eq(count, 2, "two entries");
	ok(!strcmp(seen[0].key, "a/b.txt") && seen[0].key_len == 7 && !seen[0].is_dir, "a key");
	eq((long long)seen[0].size, 1234, "its size");
	eq(seen[0].mtime, 1706704496, "its time");
	ok(seen[0].etag == etag_hash("abc", 3), "its tag, without quotation marks");
	ok(!strcmp(seen[1].key, "a/d/") && seen[1].is_dir, "a directory");
	ok(!ls.truncated, "all of it");

	ok(parse(HEAD "<Prefix>not an entry</Prefix><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>"
		      "<NextContinuationToken>x&amp;y</NextContinuationToken>"
		      "<Contents><Key>%C3%BC+b%2Bc%0A</Key><Size>0</Size></Contents></ListBucketResult>"),
	   "an encoded one");
	eq(count, 1, "one entry");
	ok(!strcmp(seen[0].key, "\xc3\xbc b+c\n"), "decoded");
	ok(ls.truncated && !strcmp(ls.token, "x&y"), "and how it goes on");

	ok(parse(HEAD "<Contents><Key>a%20+&lt;&#233;&#x20ac;</Key></Contents></ListBucketResult>"), "not encoded");
	ok(!strcmp(seen[0].key, "a%20+<\xc3\xa9\xe2\x82\xac"), "percent signs stay, entities do not");
}

static void bad_input(void)
{
	static char big[4096];

	ok(!parse(""), "nothing");
	ok(!parse("<Error><Code>NoSuchBucket</Code></Error>"), "an error");
	ok(parse(HEAD "<IsTruncated>true</IsTruncated></ListBucketResult>") && ls.truncated && !ls.token[0], "more, but no way to ask for it");
	ok(parse(HEAD "<Contents><Key>x&bogus;</Key></Contents><Contents><Key>y</Key></Contents></ListBucketResult>") && count == 1 &&
		   !strcmp(seen[0].key, "y"),
	   "an entity that is none leaves its entry out");
	ok(parse(HEAD "<EncodingType>url</EncodingType><Contents><Key>a%00b</Key></Contents><Contents><Key>%</Key></Contents></ListBucketResult>") &&
		   count == 0,
	   "a NUL and half an escape are no keys");
	ok(!parse(HEAD "<Contents><Key>cut") && count == 0, "cut in an entry");
	ok(!parse(HEAD "<Contents><Key>a</Key></Contents>"), "cut behind one");
	ok(parse(HEAD "<EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><NextMarker>a%2Fb+c</NextMarker></ListBucketResult>") &&
		   !strcmp(ls.marker, "a/b c"),
	   "how the older form goes on");
	ok(parse(HEAD "<Contents><Contents><Key>k</Key></Contents></Contents></ListBucketResult>") && count == 1, "nested where nothing nests");
	ok(parse(HEAD "<Contents/><Contents></Contents></Contents></ListBucketResult>") && count == 0, "empty ones");
	snprintf(big, sizeof(big), HEAD "<Contents><Key>%01100d</Key></Contents><Contents><Key>z</Key><Size>99999999999999999999</Size></Contents></ListBucketResult>", 1);
	ok(parse(big) && count == 1 && seen[0].size == 0, "a key too long, a size too large");
	ok(parse(HEAD "<Contents><Key>t</Key><LastModified>yesterday, at about noon</LastModified></Contents></ListBucketResult>") && seen[0].mtime == 0,
	   "no time");
}

static void values(void)
{
	char out[16];

	ok(xml_value("<A><UploadId>a&amp;b</UploadId></A>", 35, "UploadId", out, sizeof(out)) && !strcmp(out, "a&b"), "a value");
	ok(!xml_value("<A><UploadId>0123456789012345</UploadId></A>", 44, "UploadId", out, sizeof(out)), "too long a value");
	ok(!xml_value("<A></A>", 7, "UploadId", out, sizeof(out)), "no value");
}

static void keys(void)
{
	static char deep[1100];

	ok(key_ok("") && key_ok("a") && key_ok("a/b/c") && key_ok("a b/\xff/..."), "keys");
	ok(!key_ok("/") && !key_ok("/a") && !key_ok("a/") && !key_ok("a//b"), "empty parts");
	ok(!key_ok(".") && !key_ok("..") && !key_ok("a/../b") && !key_ok("a/."), "dots");
	ok(!s3_key_ok("a\0b", 3), "a NUL");
	memset(deep, 'x', sizeof(deep));
	ok(!s3_name_ok(deep, 256) && s3_name_ok(deep, 255), "a long name");
	for (int i = 100; i < 1100; i += 100)
		deep[i] = '/';
	ok(s3_key_ok(deep, 1024) && !s3_key_ok(deep, 1025), "a long key");
}

int main(void)
{
	listings();
	bad_input();
	values();
	keys();
	return tap_end();
}
