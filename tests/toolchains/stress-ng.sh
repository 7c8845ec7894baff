# stress-ng: every stressor that is safe and can work in a cell, at low counts; stress-ng.list has them all. shellcheck shell=bash

# Status 0 alone says little: stress-ng also ends well when a stressor could do nothing. Where a second was not enough for one
# operation, it gets more.
stressor() { # name, how, options...
	local name=$1 how=$2 user=root ops seconds
	shift 2
	[[ $how == user ]] && user=agent
	for seconds in 1 15; do
		exits 0 viv --quiet --memory 1G --pids 2000 --user "$user" --workdir /tmp -- \
			stress-ng --"$name" 2 --"$name"-ops 100 --timeout "$seconds" --verify --metrics-brief --oomable "$@"
		cat out err >log
		if grep 'fail:\|skipp\|unsuccessful' log; then return 1; fi
		ops=$(awk -v name="$name" '/metrc:/ && $4 == name && NF > 8 { print $5; exit }' log)
		[[ $how == slow || ${ops:-0} -gt 0 ]] && return 0
	done
	echo 'no operation was done'
	cat log
	return 1
}

known=' '
while read -r name how options; do
	[[ $name == '#' || $name == '#'* || -z $name ]] && continue
	known+="$name "
	[[ $how == out ]] && continue
	# shellcheck disable=SC2086
	check "$name" stressor "$name" "$how" $options
done <"$themes_at/stress-ng.list"

# A newer stress-ng has more of them: then somebody has to look.
all_listed() {
	local name all
	all=$(stress-ng --stressors) || return 1
	for name in $all; do
		[[ $known == *" $name "* ]] || { echo "not in the list: $name"; return 1; }
	done
}
check 'the list has every stressor' all_listed
