#!/usr/bin/env python3
"""Random schedules, compared with a model: cronmodel.py PROGRAM [COUNT [SEED]].

The model is slow and simple, and shares nothing with the program: it knows zones by Python's zoneinfo, walks over days
minute by minute, and asks for each moment what the clocks show."""
import bisect
import calendar
import random
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

ZONES = ['UTC', 'Europe/Oslo', 'America/New_York', 'Europe/Dublin', 'Australia/Lord_Howe', 'Pacific/Apia', 'Asia/Kathmandu',
         'America/St_Johns', 'Africa/Casablanca', 'Asia/Tehran', 'Pacific/Chatham', 'America/Sao_Paulo', 'Asia/Gaza',
         'Antarctica/Troll', 'America/Caracas', 'Africa/Cairo', 'Asia/Pyongyang', 'Pacific/Kiritimati']
FIRST, LAST = 2000, 2045
MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split()
DAYS = 'SUN MON TUE WED THU FRI SAT'.split()


def utc(t):
    return datetime.fromtimestamp(t, timezone.utc)


class Zone:
    """The moments at which the offset changes, found by looking at each day and then between them."""

    def __init__(self, name):
        self.name, self.zone = name, ZoneInfo(name)
        self.changes = []
        t = int(datetime(FIRST - 1, 1, 1, tzinfo=timezone.utc).timestamp())
        end = int(datetime(LAST + 20, 1, 1, tzinfo=timezone.utc).timestamp())
        before = self.ask(t)
        while t < end:
            low, high = t, t + 86400
            t = high
            if self.ask(high) == before:
                continue
            while high - low > 1:
                mid = (low + high) // 2
                if self.ask(mid) == before:
                    low = mid
                else:
                    high = mid
            before = self.ask(high)
            self.changes.append((high, before))
            t = high
        self.start = self.ask(int(datetime(FIRST - 1, 1, 1, tzinfo=timezone.utc).timestamp()))
        self.times = [c[0] for c in self.changes]

    def ask(self, t):
        return int(utc(t).astimezone(self.zone).utcoffset().total_seconds())

    def offset(self, t):
        i = bisect.bisect_right(self.times, t)
        return self.changes[i - 1][1] if i else self.start


class Field:
    def __init__(self, low, high, names, rng):
        self.values, self.text = set(), ''
        words = []
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            kind = rng.random()
            if kind < 0.35:
                step = rng.choice([1, 1, 1, 2, 3, 5, 10, 15])
                step = min(step, high)
                words.append('*' if step == 1 and rng.random() < 0.9 else f'*/{step}')
                self.values |= set(range(low, high + 1, step))
            elif kind < 0.6:
                a = rng.randint(low, high)
                b = rng.randint(a, high)
                step = rng.choice([1, 1, 2, 3, 7])
                step = min(step, high)
                words.append(f'{self.show(a, low, names, rng)}-{self.show(b, low, names, rng)}' + (f'/{step}' if step > 1 else ''))
                self.values |= set(range(a, b + 1, step))
            else:
                a = rng.randint(low, high)
                words.append(self.show(a, low, names, rng))
                self.values.add(a)
            if words[-1] == '*' and rng.random() < 0.9:
                break
        self.text = ','.join(words)
        self.star = self.text[0] == '*'

    @staticmethod
    def show(v, low, names, rng):
        if names and rng.random() < 0.5 and v - low < len(names):
            return rng.choice([str.upper, str.lower, str.title])(names[v - low])
        return f'{v:02d}' if rng.random() < 0.1 else str(v)


class Schedule:
    def __init__(self, rng):
        self.minute = Field(0, 59, None, rng)
        self.hour = Field(0, 23, None, rng)
        self.day = Field(1, 31, None, rng)
        self.month = Field(1, 12, MONTHS, rng)
        self.weekday = Field(0, 6, DAYS, rng)
        # Narrow ones that fall into the hours in which clocks change.
        if rng.random() < 0.4:
            v = rng.choice([0, 1, 2, 3, 23])
            self.hour.values, self.hour.text, self.hour.star = {v}, str(v), False
        if rng.random() < 0.5:
            for f, t in ((self.day, range(1, 32)), (self.month, range(1, 13)), (self.weekday, range(7))):
                f.values, f.text, f.star = set(t), '*', True
        self.text = ' '.join(f.text for f in (self.minute, self.hour, self.day, self.month, self.weekday))

    def on(self, d):
        day, weekday = d.day in self.day.values, d.isoweekday() % 7 in self.weekday.values
        both = self.day.star or self.weekday.star
        return d.month in self.month.values and ((day and weekday) if both else (day or weekday))

    def possible(self):
        if not (self.day.star or self.weekday.star):
            return True
        return any(d <= calendar.monthrange(2000, m)[1] for m in self.month.values for d in self.day.values)


def elapsed(s, z, after, until):
    """Every minute between the two, by what the clocks show then."""
    t = after // 60 * 60 + 60
    while t <= until:
        local = utc(t + z.offset(t))
        if not s.on(local.date()):
            # Days begin at quarters of an hour in all of these zones.
            t += 900 - t % 900
            continue
        if local.second == 0 and local.minute in s.minute.values and local.hour in s.hour.values:
            yield t
        t += 60


def shown(s, z, after, until):
    """Every minute that a calendar has, and the moment at which clocks reach it."""
    first = utc(after + z.offset(after)).date() - timedelta(days=2)
    out = set()
    d = first
    while d <= utc(until).date() + timedelta(days=3):
        if s.on(d):
            for h in s.hour.values:
                for m in s.minute.values:
                    t = reach(z, d, h, m)
                    if after < t <= until:
                        out.add(t)
        d += timedelta(days=1)
    return sorted(out)


def reach(z, d, h, m):
    naive = datetime(d.year, d.month, d.day, h, m)
    t = int(naive.replace(tzinfo=z.zone, fold=0).timestamp())
    if utc(t).astimezone(z.zone).replace(tzinfo=None) == naive:
        return t
    # It does not exist: the change that jumps over it.
    wall = int(naive.replace(tzinfo=timezone.utc).timestamp())
    i = bisect.bisect_left(z.times, wall - 93600)
    for at, offset in z.changes[i:]:
        if at - 1 + z.offset(at - 1) < wall <= at + offset:
            return at
    raise AssertionError('a gap without a change')


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3000
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    zones = [Zone(n) for n in ZONES]
    asked, wanted = [], []
    for i in range(count):
        z, s = rng.choice(zones), Schedule(rng)
        within = [t for t in z.times if FIRST <= utc(t).year < LAST]
        if within and rng.random() < 0.7:
            after = rng.choice(within) + rng.randint(-2 * 86400, 3 * 3600)
        else:
            after = int(datetime(FIRST, 1, 1, tzinfo=timezone.utc).timestamp()) + rng.randint(0, (LAST - FIRST) * 31556952)
        if not s.possible():
            want = None
        else:
            span = 4 * 86400
            rare = not s.day.star or not s.weekday.star or s.month.text != '*'
            if rare:
                span = 40 * 86400
            limit = after + span
            want = []
            for t in (elapsed if s.hour.star else shown)(s, z, after, limit):
                want.append(t)
                if len(want) == 60:
                    break
        asked.append(f'{z.name}|{s.text}|{after}|{len(want) + 1 if want is not None else 1}\n')
        wanted.append((want, after + span if want is not None else 0))
    r = subprocess.run([program, 'next'], input=''.join(asked), capture_output=True, text=True, check=True)
    lines = r.stdout.splitlines()
    assert len(lines) == count, f'{len(lines)} answers'
    wrong = 0
    fired = 0
    for question, line, (want, limit) in zip(asked, lines, wanted):
        if want is None:
            good = line == 'bad'
        else:
            got = [int(w) for w in line.split()]
            good = got[:len(want)] == want and (len(want) == 60 or got[-1] == -1 or got[-1] > limit)
            fired += len(want)
        if not good:
            wrong += 1
            if wrong <= 5:
                print(f'# {question.strip()}\n#   got  {line[:200]}\n#   want {want[:12] if want else want}')
    print(f'# {count} schedules, {fired} times, {wrong} of them wrong')
    sys.exit(wrong > 0)


main()
