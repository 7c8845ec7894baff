# Go, Rust, Java, and cmake with ninja: builds and what they build. shellcheck shell=bash

LIMIT=300
inside 'Go: build, test and vet a module' go $'499500 1000\nhello\nok\ncaught' <<'END'
export HOME=$PWD GOFLAGS=-mod=mod GOTOOLCHAIN=local
mkdir m; cd m
printf 'module example.com/m\n\ngo 1.19\n' >go.mod
cat >m.go <<X
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
)

func Sum(n int) (s int) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := 0; i < n; i++ {
		wg.Add(1)
		go func(i int) { defer wg.Done(); mu.Lock(); s += i; mu.Unlock() }(i)
	}
	wg.Wait()
	return
}

func main() {
	c := make(chan int)
	go func() { for i := 0; i < 1000; i++ { c <- 1 }; close(c) }()
	n := 0
	for x := range c { n += x }
	fmt.Println(Sum(1000), n)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil { panic(err) }
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") }))
	r, err := http.Get("http://" + l.Addr().String())
	if err != nil { panic(err) }
	b, _ := io.ReadAll(r.Body)
	fmt.Println(string(b))
}
X
printf 'package main\n\nimport "testing"\n\nfunc TestSum(t *testing.T) { if Sum(10) != 45 { t.Fatal("bad") } }\n' >m_test.go
go build -o m . && ./m
go test ./... | awk '{ print $1 }'; go vet ./...
sed -i s/45/46/ m_test.go; go test ./... >/dev/null || echo caught
END

inside 'Rust: rustc, and cargo without a network' 'rustc cargo' $'12 hello\n42\nok' <<'END'
export HOME=$PWD CARGO_HOME=$PWD/cargo
cat >a.rs <<X
use std::io::{Read, Write};
fn main() {
    let h: Vec<_> = (0..4).map(|i| std::thread::spawn(move || i * 2)).collect();
    let s: i32 = h.into_iter().map(|x| x.join().unwrap()).sum();
    let l = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let a = l.local_addr().unwrap();
    std::thread::spawn(move || l.accept().unwrap().0.write_all(b"hello").unwrap());
    let mut b = String::new();
    std::net::TcpStream::connect(a).unwrap().read_to_string(&mut b).unwrap();
    println!("{} {}", s, b);
}
X
rustc -O a.rs && ./a
cargo new -q --vcs none --lib dep; cargo new -q --vcs none app; cd app
echo 'dep = { path = "../dep" }' >>Cargo.toml
printf 'pub fn f() -> i32 { 42 }\n#[test]\nfn t() { assert_eq!(f(), 42) }\n' >../dep/src/lib.rs
echo 'fn main() { println!("{}", dep::f()) }' >src/main.rs
cargo build -q --offline; target/debug/app
cargo test -q --offline -p dep | grep -o 'test result: ok' | head -n 1 | cut -d ' ' -f 3
END

inside 'Java: javac, a thread pool, an NIO server, a child' 'javac java' $'328350\nm19\nchild 3\nended by hook' <<'END'
cat >P.java <<X
import java.net.*;
import java.nio.ByteBuffer;
import java.nio.channels.*;
import java.util.*;
import java.util.concurrent.*;

public class P {
	public static void main(String[] args) throws Exception {
		var pool = Executors.newFixedThreadPool(8);
		var futures = new ArrayList<Future<Integer>>();
		for (int i = 0; i < 100; i++) { int k = i; futures.add(pool.submit(() -> k * k)); }
		int sum = 0;
		for (var f : futures) sum += f.get();
		System.out.println(sum);
		pool.shutdown();
		var selector = Selector.open();
		var server = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0));
		server.configureBlocking(false);
		server.register(selector, SelectionKey.OP_ACCEPT);
		int port = ((InetSocketAddress) server.getLocalAddress()).getPort();
		var client = new Thread(() -> {
			try {
				for (int i = 0; i < 20; i++)
					try (var s = new Socket("127.0.0.1", port)) {
						s.getOutputStream().write(("m" + i).getBytes());
						byte[] b = new byte[64];
						int n = s.getInputStream().read(b);
						if (i == 19) System.out.println(new String(b, 0, n));
					}
			} catch (Exception e) { e.printStackTrace(); }
		});
		client.start();
		for (int done = 0; done < 20;) {
			selector.select();
			for (var it = selector.selectedKeys().iterator(); it.hasNext();) {
				var key = it.next();
				it.remove();
				if (key.isAcceptable()) {
					var c = server.accept();
					c.configureBlocking(false);
					c.register(selector, SelectionKey.OP_READ);
				} else {
					var c = (SocketChannel) key.channel();
					var b = ByteBuffer.allocate(64);
					if (c.read(b) < 0) { c.close(); done++; } else { b.flip(); c.write(b); }
				}
			}
		}
		client.join();
		var p = new ProcessBuilder("sh", "-c", "printf child; exit 3").start();
		System.out.print(new String(p.getInputStream().readAllBytes()));
		System.out.println(" " + p.waitFor());
		Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("ended by hook")));
		new ProcessBuilder("kill", "" + ProcessHandle.current().pid()).start();
		Thread.sleep(20000);
	}
}
X
javac -d . P.java; java -cp . P && exit 1 || [ $? = 143 ]
END

inside 'Java: a small heap, every collector' java $'Serial\nParallel\nG1' --memory 1G <<'END'
for gc in Serial Parallel G1; do java -XX:+Use${gc}GC -Xmx64m -version 2>&1 | grep -q 'Server VM' && echo $gc; done
END

inside 'cmake and ninja: build, test, rebuild what changed' 'cmake ninja g++' $'5\n100% tests passed\nno work to do.\n3' <<'END'
printf '%s\n' 'cmake_minimum_required(VERSION 3.10)' 'project(x C CXX)' 'add_library(l l.c)' 'add_executable(x x.cpp)' \
	'target_link_libraries(x l)' 'enable_testing()' 'add_test(NAME t COMMAND x)' >CMakeLists.txt
echo 'int f(void) { return 5; }' >l.c
printf '%s\n' '#include <iostream>' 'extern "C" int f(void);' 'int main() { std::cout << f() << "\n"; }' >x.cpp
cmake -G Ninja -B b . >log; ninja -C b >>log; b/x
ctest --test-dir b | grep -o '100% tests passed'; ninja -C b | grep -o 'no work to do.'
touch l.c; ninja -C b | grep -c '^\[./3\]\|/3\]'
END
