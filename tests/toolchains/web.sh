# Web servers and their clients on a cell's loopback. shellcheck shell=bash

nginx='mkdir www; echo hello >www/index.html; head -c 3000000 /dev/zero >www/big
cat >conf <<X
worker_processes 2; pid $PWD/pid; error_log $PWD/err;
events { worker_connections 128; }
http {
	access_log off; sendfile on;
	client_body_temp_path $PWD/1; proxy_temp_path $PWD/2; fastcgi_temp_path $PWD/3; uwsgi_temp_path $PWD/4; scgi_temp_path $PWD/5;
	server { listen 127.0.0.1:8080; listen unix:$PWD/sock; root $PWD/www; location /p/ { proxy_pass http://unix:$PWD/sock:/; } }
}
X
nginx -c "$PWD/conf"; soon curl -sf http://127.0.0.1:8080/'

inside 'nginx: files, a proxy, reload, quit' 'nginx curl' $'hello\n3000000\nhello\n404\n206\nreloaded\ngone' <<END
$nginx
curl -s http://127.0.0.1:8080/; curl -s http://127.0.0.1:8080/big | wc -c; curl -s http://127.0.0.1:8080/p/
curl -s -o /dev/null -w '%{http_code}\n' http://127.0.0.1:8080/none; curl -s -r 0-99 -o /dev/null -w '%{http_code}\n' http://127.0.0.1:8080/big
nginx -c "\$PWD/conf" -s reload; sleep 0.3; curl -sf http://127.0.0.1:8080/ >/dev/null && echo reloaded
p=\$(cat pid); nginx -c "\$PWD/conf" -s quit; soon sh -c "! kill -0 \$p"; curl -s http://127.0.0.1:8080/ || echo gone
END

inside 'nginx under wrk' 'nginx wrk curl' 'requests, no errors' <<END
$nginx
wrk -t 2 -c 16 -d 2 http://127.0.0.1:8080/ >log
n=\$(sed -n 's/^ *\([0-9]*\) requests in.*/\1/p' log); [ "\$n" -gt 200 ] && ! grep -i 'errors\|non-2xx' log && echo 'requests, no errors'
END

inside 'nginx under ab' 'nginx ab curl' $'Complete requests:      500\nFailed requests:        0' <<END
$nginx
ab -q -k -n 500 -c 8 http://127.0.0.1:8080/ | grep '^Complete\|^Failed'
END

inside 'python http.server and curl' 'python3 curl' $'data\n200\n100000\n7' <<'END'
echo data >f; head -c 100000 /dev/zero >z
python3 -m http.server --bind 127.0.0.1 8000 >log 2>&1 & p=$!
soon curl -sf http://127.0.0.1:8000/f
curl -s http://127.0.0.1:8000/f; curl -sI -o /dev/null -w '%{http_code}\n' http://localhost:8000/z
curl -s --parallel http://127.0.0.1:8000/z -o a http://127.0.0.1:8000/z -o b; wc -c <b
kill $p; wait $p || true; s=0; curl -s http://127.0.0.1:8000/f || s=$?; echo $s
END
