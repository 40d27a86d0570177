#!/bin/sh
set -e
if [ -d "$1" ]; then exit; fi
git init -q -b main "$1" && cd "$1"
git remote add origin https://github.com/acme/sums.git
commit() {  # author, month, message
    git add -A
    export GIT_AUTHOR_DATE="2023-$2-10T10:00:00Z" GIT_COMMITTER_DATE="2023-$2-10T12:00:00Z"
    git -c user.name="$1" -c user.email="$1@example.com" commit -q -m "$3"
}
printf 'def add(a, b):\n    return a + b\n' > sums.py
commit Ada 01 "feat: add sums"
printf '# Sums\n\nAdds numbers.\n' > README.md
commit Grace 02 "docs: describe sums (#1)"
git tag v1.0.0
mkdir lib && printf '\n# in C, too\nint add(int a, int b) { return a + b; }\n' > lib/sums.c
printf 'def add(a, b):\n    # adds\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n' > sums.py
commit Ada 03 "fix(sums)!: subtract, too"
git tag v1.2.0
git checkout -q -b feature v1.0.0 && echo notes > notes.txt
commit Ada 04 "feat: add notes"
git checkout -q main
GIT_AUTHOR_DATE=2023-04-20T10:00:00Z GIT_COMMITTER_DATE=2023-04-20T10:00:00Z \
    git -c user.name=Grace -c user.email=Grace@example.com merge -q --no-ff -m "Merge branch 'feature'" feature
git tag v1.10.0
git rm -q README.md
commit Grace 05 "chore: drop the README, fixes #2"
for day in 11 12 13 14 15 16 17 18 19 20 21 22; do
    name=Zoe; [ $day -lt 20 ] || name=Alan
    [ $day != 12 ] || by="Co-authored-by: Grace <Grace@example.com>"
    echo "commit refs/heads/main
author $name <$name@example.com> $((1685000000 + day * 90000)) +0100
committer $name <$name@example.com> $((1685000000 + day * 90000)) +0100
data <<END
chore: step $day

$by
END"
    [ $day != 11 ] || echo "from refs/heads/main^0"
    by=
    echo "M 644 inline steps.txt
data <<END
step $day
END"
done | git fast-import --quiet
git reset -q --hard
