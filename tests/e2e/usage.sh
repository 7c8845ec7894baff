# What cells use: /metrics, stats, events of limits. shellcheck shell=bash

case_of() { python3 "$E2E_DIR/usage.py" "$VIV" "$PWD" "$1"; }
check '/metrics has every running cell in the form of Prometheus @r' case_of figures
check 'stats have totals and rates' case_of rates
check 'events tell of limits that are near or hit, and of too little memory @r' case_of limits
