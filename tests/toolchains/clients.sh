# Clients of Go and Java, from a cell to servers of a world: their resolvers, HTTP/1 and 2, TLS that is passed and that the gate opens.
# shellcheck shell=bash
# world
# shellcheck source=tests/e2e/world.sh
. "$E2E_DIR/world.sh"
world_name_server
world_web

# What both print: the addresses of good.org, its page over HTTP/2, forty at once, a body, and what a denied name gives.
WANTED="2606:2800:220:1::34 93.184.216.34
200 HTTP/2.0 good.org
40
denied true"

go_client() {
	mkdir src
	cat >src/go.mod <<'P'
module client
go 1.19
P
	cat >src/main.go <<'P'
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"sort"
	"strings"
	"sync"
)

func page(url string) (string, string, error) {
	r, err := http.Get(url)
	if err != nil {
		return "", "", err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	return fmt.Sprint(r.StatusCode, " ", r.Proto), strings.Fields(string(b))[0], err
}

func main() {
	addrs, err := net.LookupHost("good.org")
	if err != nil {
		fmt.Println(err)
	}
	sort.Strings(addrs)
	fmt.Println(strings.Join(addrs, " "))
	proto, name, err := page("https://good.org/who")
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(proto, name)
	var wait sync.WaitGroup
	var lock sync.Mutex
	n := 0
	for i := 0; i < 40; i++ {
		wait.Add(1)
		go func() {
			defer wait.Done()
			_, name, err := page("https://good.org/who")
			lock.Lock()
			defer lock.Unlock()
			if err == nil && name == "good.org" {
				n++
			}
		}()
	}
	wait.Wait()
	fmt.Println(n)
	_, err = net.LookupHost("other.org")
	_, _, err2 := page("https://other.org/")
	fmt.Println("denied", err != nil && err2 != nil)
}
P
	# With Go's own resolver, and with the C library's.
	for cgo in 0 1; do
		(cd src && CGO_ENABLED=$cgo GOFLAGS=-mod=mod GOCACHE="$PWD/../cache" GOPATH="$PWD/../path" HOME="$PWD" go build -o "../client$cgo" .) || return 1
		is "$(viv --allow good.org --mount "$E2E_WORLD/ca.pem:/ca.pem:ro" -e SSL_CERT_FILE=/ca.pem --mount "$PWD/client$cgo:/client:ro" -- /client)" "$WANTED" "cgo=$cgo, passed"
		is "$(viv --allow good.org --deny 'good.org DELETE' --mount "$PWD/client$cgo:/client:ro" -- /client)" "$WANTED" "cgo=$cgo, opened"
	done
	chmod -R u+w path 2>/dev/null || true
}
if why=$(missing go); then lack 'Go: its resolvers and net/http' "$why"; else check 'Go: its resolvers and net/http' go_client; fi

java_client() {
	mkdir j
	cat >j/Client.java <<'P'
import java.net.*;
import java.net.http.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

class Client {
	static HttpClient http = HttpClient.newHttpClient();
	static CompletableFuture<HttpResponse<String>> page(String url) {
		return http.sendAsync(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString());
	}
	public static void main(String[] a) throws Exception {
		System.out.println(Stream.of(InetAddress.getAllByName("good.org")).map(x -> x.getHostAddress().replace(":0:0:0:34", "::34"))
			.sorted().collect(Collectors.joining(" ")));
		HttpResponse<String> r = page("https://good.org/who").get();
		System.out.println(r.statusCode() + (r.version() == HttpClient.Version.HTTP_2 ? " HTTP/2.0 " : " HTTP/1.1 ") + r.body().split(" ")[0]);
		List<CompletableFuture<HttpResponse<String>>> all = new ArrayList<>();
		for (int i = 0; i < 40; i++) all.add(page("https://good.org/who"));
		int n = 0;
		for (var f : all) if (f.get().body().startsWith("good.org ")) n++;
		System.out.println(n);
		boolean denied = false;
		try { InetAddress.getAllByName("other.org"); } catch (UnknownHostException e) {
			try { page("https://other.org/").get(); } catch (ExecutionException x) { denied = true; }
		}
		System.out.println("denied " + denied);
	}
}
P
	javac -d j j/Client.java
	keytool -importcert -noprompt -alias world -file "$E2E_WORLD/ca.pem" -keystore j/trust -storepass changeit >/dev/null 2>&1
	is "$(viv --allow good.org --mount "$PWD/j:/j:ro" -- java -Djavax.net.ssl.trustStore=/j/trust -Djavax.net.ssl.trustStorePassword=changeit -cp /j Client)" "$WANTED" passed
	# The CA of the cell is in Java's own store.
	is "$(viv --allow good.org --deny 'good.org DELETE' --mount "$PWD/j:/j:ro" -- java -cp /j Client)" "$WANTED" opened
}
if why=$(missing 'java javac keytool'); then
	lack 'Java: its resolver and java.net.http' "$why"
elif [[ ! -e /etc/ssl/certs/java/cacerts ]]; then
	lack 'Java: its resolver and java.net.http' "Java's certificates are not where Debian has them"
else
	check 'Java: its resolver and java.net.http' java_client
fi

world_end
