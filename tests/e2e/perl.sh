# Perl as scripts use it. shellcheck shell=bash

same 'regular expressions, hashes, sorting, formats @r' perl <<'EOF'
use strict; use warnings; my %h; $h{$_ % 7} += $_ for 1..1000; print map { "$_=$h{$_}\n" } sort { $a <=> $b } keys %h;
my $s = "The quick brown fox"; (my $t = $s) =~ s/(\w+)/\u\L$1/g; print "$t\n"; print join('|', $s =~ /\b(\w)/g), "\n"; print scalar reverse($s), "\n";
printf "%05.2f %s %x\n", 3.14159, join(',', sort { length $a <=> length $b or $a cmp $b } split / /, $s), 255; local $, = '-'; print 1, 2, 3; print "\n"; my @a = map { $_ ** 2 } grep { $_ & 1 } 1..9; print "@a\n"; print sprintf('%b', 10), pack('A3n', 'ab', 258) eq "ab \x01\x02" ? 'ok' : 'no', "\n";
EOF

same 'fork, wait, pipes, exec, signals, alarms @r' perl <<'EOF'
use strict; use warnings; use POSIX ':sys_wait_h'; $| = 1;
my @p; for my $i (1..10) { my $p = fork; if (!$p) { exit $i } push @p, $p } my $sum = 0; for (@p) { waitpid $_, 0; $sum += $? >> 8 } print "$sum\n";
open my $o, '-|', 'echo', 'from child' or die; print <$o>; close $o; open my $w, '|-', 'tr a-z A-Z' or die; print $w "to child\n"; close $w; print `echo back; exit 3`, $? >> 8, "\n";
$SIG{ALRM} = sub { die "alarm\n" }; eval { alarm 1; select undef, undef, undef, 5; }; print $@; $SIG{USR1} = sub { print "usr1\n" }; kill USR1 => $$; pipe my $r, my $wr; if (!fork) { close $r; print $wr "piped\n"; exit } close $wr; print <$r>; wait; print $?, "\n";
my $k = fork; if (!$k) { sleep 100 } kill 9, $k; waitpid $k, 0; print WIFSIGNALED($?) ? WTERMSIG($?) : 'none', "\n"; print system('exit 4') >> 8, "\n"; $SIG{CHLD} = 'IGNORE'; system 'true'; print waitpid(-1, WNOHANG), "\n"; exec 'echo', 'last';
EOF

same 'files, directories, locks, modules' perl <<'EOF'
use strict; use warnings; use Fcntl ':flock', ':mode', 'SEEK_SET'; use File::Find; use File::Temp 'tempfile'; use File::Copy; use File::Path qw(make_path remove_tree); use Cwd; use IPC::Open3; use Digest::SHA 'sha256_hex'; use Storable; use Time::HiRes 'sleep'; use Data::Dumper; use threads; use Encode;
make_path('a/b/c'); for (1..20) { open my $f, '>', "a/b/f$_" or die; print $f $_ x 100; close $f } my @l; find(sub { push @l, $File::Find::name }, 'a'); print scalar(@l), "\n"; copy('a/b/f1', 'copy'); move('copy', 'moved'); print -s 'moved', "\n"; opendir my $d, 'a/b'; print join(' ', sort readdir $d), "\n"; rename 'moved', 'a/m'; link 'a/m', 'a/n'; symlink 'm', 'a/s'; print readlink('a/s'), (stat 'a/m')[3], "\n"; utime 5, 6, 'a/m'; print join(',', (stat 'a/m')[8, 9]), "\n"; chmod 0600, 'a/m'; printf "%o\n", S_IMODE((stat 'a/m')[2]);
open my $f, '+<', 'a/m'; flock $f, LOCK_EX; seek $f, 10, SEEK_SET; print $f 'XX'; truncate $f, 20; close $f; open $f, '<', 'a/m'; print <$f>, "\n"; my ($t, $n) = tempfile(DIR => '.'); print $t 'x'; close $t; print -s $n, "\n"; unlink $n; unlink glob 'a/b/f1*'; print scalar(() = glob 'a/b/f*'), "\n"; my $pid = open3(my $in, my $out, undef, 'sort', '-r'); print $in "1\n2\n"; close $in; print <$out>; waitpid $pid, 0;
print sha256_hex('x'), "\n"; store { a => [1, 2] }, 'st'; print retrieve('st')->{a}[1], "\n"; $Data::Dumper::Sortkeys = 1; print Dumper({ x => 1, y => [2] }); my @t = map { my $i = $_; threads->create(sub { sleep 0.01; $i * 2 }) } 1..8; print join(' ', map { $_->join } @t), "\n"; print length(encode('UTF-8', "\x{fc}\x{20ac}")), "\n"; remove_tree('a'); print -e 'a' ? 'there' : 'gone', "\n"; chdir '/' or die; print getcwd, "\n";
EOF
