# Debian packages, installed into a cell's own layer by its root. shellcheck shell=bash

package='mkdir -p p/DEBIAN p/usr/bin p/etc repo
printf "Package: vivtiny\nVersion: 1\nArchitecture: all\nMaintainer: A <a@example.com>\nDescription: a test\n" >p/DEBIAN/control
echo /etc/vivtiny.conf >p/DEBIAN/conffiles; echo conf >p/etc/vivtiny.conf
printf "#!/bin/sh\necho tiny works\n" >p/usr/bin/vivtiny; printf "#!/bin/sh\necho postinst \$1 >/tmp/w/postinst\n" >p/DEBIAN/postinst
chmod 755 p/usr/bin/vivtiny p/DEBIAN/postinst; dpkg-deb --root-owner-group -b p repo/vivtiny_1_all.deb >/dev/null'

# The package database of a cell is the host's, as its /usr is.
inside 'dpkg -i, -s, -L, -r, -P' dpkg $'tiny works\npostinst configure\nStatus: install ok installed\n/usr/bin/vivtiny\nconf\ngone\npurged' <<END
$package
dpkg -i repo/vivtiny_1_all.deb >log 2>&1 || { cat log; exit 1; }
vivtiny; cat postinst; dpkg -s vivtiny | grep ^Status; dpkg -L vivtiny | grep bin/; cat /etc/vivtiny.conf
dpkg -r vivtiny >log 2>&1; [ ! -e /usr/bin/vivtiny ] && [ -e /etc/vivtiny.conf ] && echo gone
dpkg -P vivtiny >log 2>&1; [ ! -e /etc/vivtiny.conf ] && echo purged
END

inside 'apt-get install of a file' apt-get $'tiny works\nii\ngone' <<END
$package
export DEBIAN_FRONTEND=noninteractive
apt-get install -q -y ./repo/vivtiny_1_all.deb >log 2>&1 || { cat log; exit 1; }
vivtiny; dpkg-query -W -f '\${db:Status-Abbrev}' vivtiny | tr -d ' '; echo
apt-get remove -q -y vivtiny >log 2>&1; [ ! -e /usr/bin/vivtiny ] && echo gone
END

inside 'apt-get install: dependencies are what the host has installed' apt-get $'install ok installed\nnot there\nunpacked' <<END
$package
export DEBIAN_FRONTEND=noninteractive
sed -i '/^Description/i Depends: bash, coreutils (>= 8)' p/DEBIAN/control; dpkg-deb --root-owner-group -b p repo/good.deb >/dev/null
apt-get install -q -y ./repo/good.deb >log 2>&1 || { cat log; exit 1; }; dpkg-query -W -f '\${Status}\n' vivtiny; dpkg -P vivtiny >log 2>&1
sed -i 's/^Depends.*/Depends: viv-no-such-package/' p/DEBIAN/control; dpkg-deb --root-owner-group -b p repo/bad.deb >/dev/null
apt-get install -q -y ./repo/bad.deb >log 2>&1 || echo not there; dpkg -i repo/bad.deb >log 2>&1 || dpkg-query -W -f '\${Status}\n' vivtiny | grep -o unpacked
END

inside 'apt-get update and install from a local repository' 'apt-get dpkg-scanpackages' $'1\ntiny works\n2' <<END
$package
export DEBIAN_FRONTEND=noninteractive
pack() { (cd repo && dpkg-scanpackages -m . >Packages 2>/dev/null); apt-get update -q >log 2>&1 || { cat log; exit 1; }; }
rm -rf /etc/apt/sources.list.d/*; echo "deb [trusted=yes] file:\$PWD/repo ./" >/etc/apt/sources.list
pack; apt-get install -q -y vivtiny >log 2>&1 || { cat log; exit 1; }
dpkg-query -W -f '\${Version}\n' vivtiny; vivtiny
sed -i 's/^Version: 1/Version: 2/' p/DEBIAN/control; dpkg-deb --root-owner-group -b p repo/vivtiny_2_all.deb >/dev/null
pack; apt-get upgrade -q -y >log 2>&1 || { cat log; exit 1; }
dpkg-query -W -f '\${Version}\n' vivtiny
END
