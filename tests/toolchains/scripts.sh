# Ruby, PHP and Lua. shellcheck shell=bash

tool_same 'Ruby: sockets, threads, fork, subprocess, files' ruby ruby <<'END'
require 'socket'; require 'json'; require 'tempfile'; require 'open3'; require 'digest'
s = TCPServer.new('127.0.0.1', 0)
t = Thread.new { 10.times { c = s.accept; c.puts "hi #{c.gets}"; c.close } }
puts 10.times.map { |i| c = TCPSocket.new('127.0.0.1', s.addr[1]); c.puts i; c.read.strip }.join(' ')
t.join
r, w = IO.pipe
pid = fork { r.close; w.puts JSON.generate({ a: [1, 2] }); exit! 7 }
w.close; p JSON.parse(r.read); Process.wait pid; p $?.exitstatus
p Open3.capture2e('sh', '-c', 'cat; echo err >&2; exit 2', stdin_data: 'in')[0]
Tempfile.create { |f| f.write('x' * 100000); f.flush; p Digest::SHA256.file(f.path).hexdigest }
q = Queue.new; ts = 8.times.map { |i| Thread.new { 100.times { q << i } } }; ts.each(&:join); p q.size
trap('USR1') { puts 'usr1' }; Process.kill('USR1', $$); sleep 0.1
p UNIXSocket.pair.then { |a, b| a.write 'u'; a.close; b.read }
END

tool_same 'PHP: files, streams, processes' php php <<'END'
<?php
file_put_contents('a', str_repeat('x', 100000)); echo strlen(file_get_contents('a')), ' ', shell_exec('echo y');
$s = stream_socket_server('tcp://127.0.0.1:0'); $c = stream_socket_client('tcp://' . stream_socket_get_name($s, false));
$a = stream_socket_accept($s); fwrite($c, "hello\n"); echo fgets($a);
$p = proc_open(['sh', '-c', 'cat; exit 4'], [['pipe', 'r'], ['pipe', 'w']], $io); fwrite($io[0], 'piped'); fclose($io[0]);
echo stream_get_contents($io[1]), ' ', proc_close($p), "\n";
mkdir('d'); touch('d/1'); echo json_encode(scandir('d')), flock(fopen('a', 'r'), LOCK_EX) ? 'locked' : 'no', "\n";
if (function_exists('pcntl_fork')) { if (!($k = pcntl_fork())) exit(9); pcntl_waitpid($k, $st); echo pcntl_wexitstatus($st), "\n"; }
END

inside "PHP's own server" 'php curl' $'php 5\n143' <<'END'
echo '<?php echo "php ".$_GET["q"]."\n";' >i.php
php -S 127.0.0.1:8081 >log 2>&1 & p=$!
soon curl -sf 'http://127.0.0.1:8081/i.php?q=0'; curl -s 'http://127.0.0.1:8081/i.php?q=5'
kill $p; s=0; wait $p || s=$?; echo $s
END

tool_same 'Lua: files, popen, coroutines' lua5.4 lua5.4 <<'END'
local f = assert(io.open('a', 'w')); for i = 1, 1000 do f:write(i, '\n') end; f:close()
local s = 0; for l in io.lines('a') do s = s + tonumber(l) end; print(s)
local p = io.popen('sort -rn a | head -n 2'); print(p:read('a')); print(p:close()); print(os.execute('exit 3'))
local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end); print(co(), co(), co())
print(os.rename('a', 'b'), io.open('a'), os.remove('b')); print(pcall(error, 'e'))
END
