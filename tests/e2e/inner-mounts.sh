# Mounts that root of the cell makes, with the programs that people use for it. shellcheck shell=bash

utils() {
	viv --tmpfs /keep -- bash -c '
		set -e
		mount -t tmpfs -o size=1m,mode=700 scratch /mnt
		echo data >/mnt/f
		df --output=source,size,target /mnt | tail -n 1 | tr -s " "
		stat -c %a /mnt
		mkdir -p /srv/a /srv/b
		mount --bind /mnt /srv/a
		mount -o remount,bind,ro /srv/a
		cat /srv/a/f
		touch /srv/a/g 2>&1 || echo "read-only as asked"
		findmnt -n -o TARGET,FSTYPE,OPTIONS /srv/a
		findmnt -n -o SOURCE /mnt
		mount --move /srv/a /srv/b
		mountpoint /srv/b; mountpoint -q /srv/a || echo "no mount any more"
		umount /srv/b; umount /mnt
		ls /mnt | wc -l
		mount -t proc p /mnt; test -r /mnt/self/status; umount /mnt
		mount -t sysfs s /mnt; test -d /mnt/devices; umount /mnt
		mount -t devpts d /mnt; test -e /mnt/ptmx; umount /mnt
		busybox mount -t tmpfs none /mnt; busybox mount | grep -c " /mnt "; busybox umount /mnt
		mount -t ext4 /dev/sda1 /mnt 2>&1 | head -n 1
		umount /keep 2>&1 || true; mount -o remount,bind,rw,suid /keep 2>&1 | head -n 1
	' >out 2>&1
	cat >want <<-'EOF'
		scratch 1024 /mnt
		700
		data
		touch: cannot touch '/srv/a/g': Read-only file system
		read-only as asked
		/srv/a tmpfs  ro,relatime,size=1024k,mode=700
		scratch
		/srv/b is a mountpoint
		no mount any more
		0
		1
		mount: /mnt: unknown filesystem type 'ext4'.
		umount: /keep: not mounted.
		mount: /keep: permission denied.
	EOF
	diff want out
}
check 'mount, umount, findmnt, mountpoint, df' utils

chroots() {
	viv -- bash -c '
		set -e
		mkdir -p /srv/root/bin; cp /usr/bin/busybox /srv/root/bin/
		chroot /srv/root /bin/busybox sh -c "echo inside; busybox ls /; busybox pwd"
		mkdir /srv/root/proc; mount -t proc p /srv/root/proc
		chroot /srv/root /bin/busybox sh -c "busybox cat /proc/mounts" | cut -d " " -f 2-3
		mkdir -p /srv/root/usr /srv/root/lib /srv/root/lib64
		for d in usr lib lib64; do mount --rbind /$d /srv/root/$d; done
		chroot /srv/root /usr/bin/python3 -c "print(6 * 7)"
		umount -R /srv/root/usr; umount -l /srv/root/proc
		chroot --userspec=65534:65534 /srv/root /bin/busybox id -u
	' >out 2>&1
	is "$(tr '\n' ';' <out)" 'inside;bin;/;/proc proc;42;65534;' 'output'
}
check 'chroot with a tree of its own' chroots

unshared() {
	viv -- bash -c '
		unshare -m bash -c "mount -t tmpfs x /mnt; touch /mnt/private; ls /mnt; grep -c \" /mnt \" /proc/mounts"
		ls /mnt | wc -l; grep -c " /mnt " /proc/mounts
		unshare -m --root=/usr bin/true; echo $?
		unshare -n true 2>&1; unshare -U true 2>&1; unshare -p true 2>&1
		mkdir -p /srv/n/old
		unshare -m bash -c "mount --rbind / /srv/n && cd /srv/n && pivot_root . srv && cd / && ls -d /usr /srv/usr && umount -l /srv && ls /srv"
		for i in $(seq 50); do unshare -m true || echo failed; done; wc -l </proc/mounts
		wc -l </proc/1/mounts
	' >out 2>&1
	cat >want <<-'EOF'
		private
		1
		0
		0
		0
		unshare: unshare failed: Operation not permitted
		unshare: unshare failed: Operation not permitted
		unshare: unshare failed: Operation not permitted
		/srv/usr
		/usr
		n
		6
		6
	EOF
	diff want out
}
check 'unshare -m, pivot_root' unshared

operators() {
	mkdir -p d/secret
	echo s >d/secret/key
	chmod -R a+rX .
	viv --mount "$PWD/d:/data:ro" --tmpfs /data2 -- bash -c '
		umount /data; umount -l /data; mount -o remount,rw /data; mount -o remount,bind,rw /data; mount --move /data /mnt
		mount --bind / /mnt; mount --rbind / /mnt && umount /mnt/data; touch /mnt/data/x /data/x
		mount -t tmpfs none /data && touch /data/mine && ls /data; umount /data; ls /data' >out 2>&1
	like "$(grep -c . out)" '1[0-9]' 'lines'
	is "$(tail -n 2 out | tr '\n' ' ')" 'mine secret ' 'what is seen'
	is "$(ls d)" secret 'what the host has'
	fails grep -q 'touch.*No such' out
}
check 'what the operator mounted stays' operators

users() {
	viv --user nobody -- bash -c 'mount -t tmpfs x /mnt; umount /proc; unshare -m true; chroot / true' >out 2>&1 || true
	is "$(grep -c -E 'must be superuser|only root|ermission denied|not permitted' out)" 4 'refusals'
}
check 'others than root may not' users
