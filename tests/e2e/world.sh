#!/bin/bash
# A world for themes about the network. A theme with the line '# world' runs in a network and a mount
# namespace of its own: the addresses below are on its loopback device, it is the host of its cells,
# and nothing ever leaves it. The theme starts what it needs with the words below, once for all its
# tests, and ends with world_end.
#
#   tests/e2e/world.sh enter DIR COMMAND...   makes the namespace (by run.sh, as root or in a user
#                                             namespace) and runs COMMAND in it
#
# In DIR are the certificates: ca.pem, and NAME.pem with the key for all names of the world.
# shellcheck shell=bash

# A name server for the names below, at the address that resolv.conf has.
WORLD_DNS=93.184.216.53
# An address of the host itself, the public one of own.org.
WORLD_OWN=93.184.216.99
# name address...: what the name server says
world_names=(
	'good.org 93.184.216.34 2606:2800:220:1::34'
	'www.good.org 93.184.216.34'
	'same.org 93.184.216.34'
	'other.org 93.184.216.35'
	'tcp.org 93.184.216.36'
	'six.org 2606:2800:220:1::36'
	'closed.org 93.184.216.37'
	'private.org 10.1.2.3'
	'loop.org 127.0.0.1'
	'loop6.org ::1'
	'mapped.org ::ffff:127.0.0.1'
	'metadata.org 169.254.169.254'
	'metadata6.org fd00:ec2::254'
	'mixed.org 93.184.216.34 10.1.2.3'
	'any.org 0.0.0.0'
	'api.anthropic.com 93.184.216.40'
	'api.openai.com 93.184.216.40'
	'generativelanguage.googleapis.com 93.184.216.40'
	"own.org $WORLD_OWN"
)
# alias target
world_aliases=(
	'alias.org good.org'
	'badalias.org private.org'
	'denied-target.org other.org'
)

world_enter() { # directory, command...
	local dir=$1 line a
	shift
	# Never in the machine's own namespace.
	if ip -o link show up | grep -qv "^[0-9]*: lo:"; then
		echo "$0: not in an empty network namespace" >&2
		exit 2
	fi
	mkdir -p "$dir" && chmod 755 "$dir"
	ip link set lo up
	# The world's addresses are routes and no addresses of a device: those are the host's own, which cells do not reach.
	echo 1 >/proc/sys/net/ipv6/ip_nonlocal_bind
	ip route add local "$WORLD_DNS/32" dev lo
	for a in "$WORLD_OWN" 2606:2800:220:1::98; do ip addr add "$a" dev lo; done
	for line in "${world_names[@]}"; do
		for a in ${line#* }; do
			case $a in
			127.* | ::1 | ::ffff:* | 0.0.0.0) ;;
			"$WORLD_OWN") ;;
			*:*) ip -6 route replace local "$a/128" dev lo ;;
			*) ip route replace local "$a/32" dev lo ;;
			esac
		done
	done
	# Closed ports of it refuse; what has no address here is unreachable at once.
	echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start
	echo '0 2147483647' >/proc/sys/net/ipv4/ping_group_range
	world_certificates "$dir"
	printf 'nameserver %s\n' "$WORLD_DNS" >"$dir/resolv.conf"
	cat /etc/ssl/certs/ca-certificates.crt "$dir/ca.pem" >"$dir/bundle.pem"
	mount --bind "$dir/resolv.conf" /etc/resolv.conf
	mount --bind "$dir/bundle.pem" /etc/ssl/certs/ca-certificates.crt
	export E2E_WORLD=$dir
	exec "$@"
}

world_certificates() { # directory
	local names line
	names=DNS:localhost
	for line in "${world_names[@]}" "${world_aliases[@]}"; do names+=,DNS:${line%% *}; done
	openssl ecparam -name prime256v1 -genkey -noout -out "$1/ca.key" &&
		openssl req -x509 -new -key "$1/ca.key" -out "$1/ca.pem" -days 2 -subj '/CN=World CA' \
			-addext keyUsage=critical,keyCertSign,cRLSign
	world_certificate "$1" server "$names"
	chmod 644 "$1"/*.key "$1"/*.pem
}
# For tests with other certificates as well: DIR/NAME.pem and DIR/NAME.key.
world_certificate() { # directory, file, subjectAltName, openssl's options...
	openssl ecparam -name prime256v1 -genkey -noout -out "$1/$2.key" &&
		openssl req -new -key "$1/$2.key" -subj "/CN=$2" -addext "subjectAltName=$3" |
		openssl x509 -req -CA "$1/ca.pem" -CAkey "$1/ca.key" -set_serial "$RANDOM$RANDOM" -days 2 \
			-copy_extensions copy -out "$1/$2.pem" "${@:4}" 2>/dev/null
}

# ---- for themes ----

world_pids=()
# Starts a server that runs in the foreground. Its output goes to a file of that name in the theme's directory.
world_run() { # name, command...
	"${@:2}" >"$scratch/world.$1" 2>&1 </dev/null &
	world_pids+=("$!")
}
# Everything that listens does so within a few seconds.
world_wait() { # address port...
	local i
	while (($# > 1)); do
		for ((i = 0; i < 400; i++)); do
			(exec 3<>"/dev/tcp/$1/$2") 2>/dev/null && break
			pause_for 0.05
		done
		((i < 400)) || echo "# the world: nothing listens at $1 port $2" >>"$tap"
		shift 2
	done
}
world_end() {
	local p
	for p in "${world_pids[@]}"; do kill "$p" 2>/dev/null; done
	for p in "${world_pids[@]}"; do wait "$p" 2>/dev/null; done
	world_pids=()
}

world_name_server() { # dnsmasq's further options...
	local line a args=()
	for line in "${world_names[@]}"; do
		for a in ${line#* }; do args+=("--host-record=${line%% *},$a"); done
	done
	for line in "${world_aliases[@]}"; do args+=("--cname=${line/ /,}"); done
	world_run dns dnsmasq --keep-in-foreground --conf-file=/dev/null --no-resolv --no-hosts --bind-interfaces \
		--listen-address="$WORLD_DNS" --pid-file= --user="$(id -un)" --group= --log-queries --log-facility=- \
		"${args[@]}" "$@"
	world_wait "$WORLD_DNS" 53
}
# What the name server was asked for.
world_asked() { # name
	grep -q " $1 from " "$scratch/world.dns"
}

# nginx at the addresses of the web servers: http, https, HTTP/2. It serves $scratch/www, tells at /who which name and address were
# used, and echoes what it was sent at /echo.
world_web() { # further lines for the server...
	mkdir -p "$scratch/www" "$scratch/nginx"
	echo hello >"$scratch/www/index.html"
	{
		echo "pid $scratch/nginx/pid; daemon off; worker_processes 1; error_log stderr;"
		[[ $(id -u) != 0 ]] || echo 'user root;'
		echo 'events { worker_connections 4096; } http {'
		for a in client_body proxy fastcgi uwsgi scgi; do echo "${a}_temp_path $scratch/nginx/$a;"; done
		echo "access_log $scratch/world.access; types { text/html html; text/plain txt; } default_type application/octet-stream;"
		echo 'server { client_max_body_size 0; absolute_redirect off;'
		for a in 93.184.216.34 93.184.216.35 10.1.2.3 127.0.0.1 169.254.169.254 "$WORLD_OWN" '[2606:2800:220:1::34]' '[2606:2800:220:1::36]' \
			'[fd00:ec2::254]' '[::1]'; do
			echo "listen $a:80; listen $a:443 ssl http2;"
		done
		echo "ssl_certificate $E2E_WORLD/server.pem; ssl_certificate_key $E2E_WORLD/server.key;"
		echo "root $scratch/www;"
		# shellcheck disable=SC2016
		echo 'location /who { return 200 "$host $server_addr $server_port $server_protocol\n"; }'
		# shellcheck disable=SC2016
		echo 'location /to { return 302 $arg_url; }'
		printf '%s\n' "$@"
		echo '} }'
	} >"$scratch/nginx/conf"
	world_run web nginx -e stderr -p "$scratch/nginx" -c "$scratch/nginx/conf"
	world_wait 93.184.216.34 443 93.184.216.35 80
}

# Plain servers at tcp.org and six.org (world.py): echo 7, discard 9, and more.
world_plain() {
	world_run plain python3 "$E2E_DIR/world.py"
	world_wait 93.184.216.36 7
}

if [[ ${BASH_SOURCE[0]} == "$0" && ${1-} == enter ]]; then
	set -e
	shift
	world_enter "$@"
fi
