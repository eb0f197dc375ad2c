/** What people have an agent run all day, in this order; `PORT` serves the word served, `NODE` is the folder of this Node. */
export const EVERYDAY_COMMANDS: readonly string[] = [
  'pwd && ls -la',
  'printf "one\\ntwo\\nthree\\n" > list.txt && cat list.txt',
  'grep -n two list.txt',
  'sed -i "s/two/2/" list.txt && grep 2 list.txt',
  "awk '{ print NR, $0 }' list.txt",
  'sort -r list.txt | uniq | head -2 | tail -1',
  'wc -l < list.txt',
  'find . -name "*.txt" -type f',
  'find . -name "*.txt" -print0 | xargs -0 grep -c one',
  'mkdir -p src/deep && touch src/deep/a && mv src/deep/a src/b && cp -r src copy && rm -r copy',
  'ln -s list.txt link && readlink link && chmod 600 list.txt',
  'tar czf all.tgz list.txt src && tar tzf all.tgz',
  'gzip -k list.txt && gunzip -c list.txt.gz | cmp - list.txt',
  'diff -u list.txt src/b || [ $? = 1 ]',
  'cp list.txt new.txt && echo four >> new.txt; diff -u list.txt new.txt > change.patch || true',
  'cp list.txt again.txt && patch again.txt change.patch && cmp again.txt new.txt',
  'head -c 16 /dev/urandom | od -An -tx1',
  'sha256sum list.txt && md5sum list.txt && base64 list.txt',
  'date -u && uname -a && id && whoami && hostname',
  'df -h . && du -sh . && free -m | head -1',
  'env | sort | head -5 && which sh',
  'ps -ef | head -3 && echo $$',
  'mktemp && mktemp -d',
  'sleep 0.1 & wait; echo done',
  'tee copy.txt < list.txt > /dev/null && test -s copy.txt',
  'echo "echo from script" > run.sh && sh run.sh && chmod +x run.sh && ./run.sh',
  'git init -q . && git config user.name Ada && git config user.email ada@example.org && git status --short',
  'git add . && git commit -qm first && git log --oneline',
  'git checkout -qb topic && echo x >> list.txt && git diff --stat && git commit -qam more',
  'git stash list && git branch -a && git tag v1 && git show --stat HEAD | head -3',
  'git clone -q . ../work/clone && git -C clone log --oneline | wc -l',
  'git merge-base HEAD v1 && git blame list.txt | head -1 && git worktree add -q wt && git worktree remove wt',
  'NODE/node -e "console.log(1 + 1)" && NODE/node --version',
  "NODE/node -e \"require('fs').writeFileSync('out.json', JSON.stringify({ a: 1 }))\" && cat out.json",
  'mkdir -p pkg && (cd pkg && npm init -y > /dev/null && npm pkg get name)',
  '(cd pkg && npm pack --silent && tar tzf *.tgz)',
  '(cd pkg && npm pkg set scripts.hi="echo hi" && npm run --silent hi)',
  '(cd pkg && mkdir -p dep && echo "{\\"name\\":\\"dep\\",\\"version\\":\\"1.0.0\\"}" > dep/package.json && npm install --silent --no-audit --no-fund --offline ./dep && ls node_modules)',
  'printf "all:\\n\\t@echo made\\n" > Makefile && make -s',
  'printf "int main(void){return 0;}" > a.c && cc a.c -o a.out && ./a.out',
  'python3 -c "print(sum(range(4)))"',
  'python3 -m venv --without-pip env && . env/bin/activate && python -c "import sys; print(sys.prefix)"; deactivate',
  'NODE/node -e "fetch(\'http://127.0.0.1:PORT/\').then((r) => r.text()).then(console.log)" | grep served',
  "(NODE/node -e \"require('http').createServer((q, r) => r.end('up')).listen(0, () => console.log('listening'))\" > server.log 2>&1 & echo $! > pid) ; until grep -q listening server.log; do sleep 0.05; done; kill $(cat pid)",
  'openssl rand -hex 8 && openssl dgst -sha256 list.txt',
  'mkdir -p t && printf "def test_one():\\n    assert True\\n" > t/test_one.py && pytest -q t',
  'cargo new --quiet --vcs none thing && (cd thing && cargo build --quiet --offline && cargo test --quiet --offline)',
  `mkdir -p pp && (cd pp && echo '{"name":"pp"}' > package.json && pnpm install --offline)`,
]

/** Programs of everyday commands that a machine may well lack. */
const OPTIONAL_PROGRAMS: readonly string[] = [
  'npm',
  'make',
  'cc',
  'python3',
  'openssl',
  'patch',
  'ps',
  'pytest',
  'cargo',
  'pnpm',
]

/** Shows which of them it lacks, a line each. */
export const LACKING_PROGRAMS = `for one in ${OPTIONAL_PROGRAMS.join(' ')}; do command -v $one > /dev/null || echo $one; done`

/** Each tries to write `ROOT/escaped` from inside. `ROOT` is the parent of the home directory, which holds the workspace. */
export const WRITING_PROBES: readonly string[] = [
  'echo x > ROOT/escaped',
  'echo x > ../escaped',
  'ln -s ROOT link; echo x > link/escaped',
  'cp /bin/true ROOT/escaped',
  'mkdir ROOT/escaped',
  'mv notes ROOT/escaped 2>/dev/null; ln ROOT/home/notes.txt ROOT/escaped',
  'cd /proc/self/root && echo x > ./ROOT/escaped',
  'for p in /proc/[0-9]*; do echo x > $p/root/ROOT/escaped; echo x > $p/cwd/../../escaped; done 2>/dev/null',
  'mount -o remount,rw / ; mount -o remount,rw,bind ROOT; echo x > ROOT/escaped',
  'umount -l ROOT/home/.ssh; umount -l /; echo x > ROOT/escaped',
  'unshare -Urm sh -c "mount -o remount,rw /; mount --bind / /mnt; echo x > /mnt/ROOT/escaped; echo x > ROOT/escaped"',
  'nsenter -t 1 -m sh -c "echo x > ROOT/escaped"; nsenter -t 1 -a sh -c "echo x > ROOT/escaped"',
  'mknod disk b 8 0 && dd if=/dev/zero of=disk count=0; chroot / sh -c "echo x > ROOT/escaped"',
  'sudo -n sh -c "echo x > ROOT/escaped"; su -c "echo x > ROOT/escaped" </dev/null',
  'sleep 0 & (setsid sh -c "echo x > ROOT/escaped" &) ; wait',
  'for fd in /proc/self/fd/*; do echo x > $fd/../escaped; done 2>/dev/null; echo x > /proc/self/fd/4/escaped',
  'echo "touch ROOT/escaped" > rc; export BASH_ENV=$PWD/rc ENV=$PWD/rc; true',
  'mkdir bin; printf "#!/bin/sh\\ntouch ROOT/escaped\\n" > bin/bwrap; cp bin/bwrap bin/bash; chmod +x bin/*; export PATH=$PWD/bin:$PATH; hash -r',
  'export LD_PRELOAD=$PWD/evil.so LD_LIBRARY_PATH=$PWD LD_AUDIT=$PWD/evil.so',
  'echo x > /dev/shm/../../ROOT/escaped; echo x > "/tmp/../ROOT/escaped"',
  'chmod 777 ROOT; chown 0 ROOT; touch ROOT/escaped',
  // Written back as it was, should it be taken.
  'v=$(cat /proc/sys/vm/swappiness) && echo "$v" > /proc/sys/vm/swappiness && echo TAKEN',
]

/** Each tries to show what {@link ESCAPED} finds. `OUTPUTS` is where the agent keeps outputs. */
export const READING_PROBES: readonly string[] = [
  'cat ROOT/home/.ssh/id_ed25519; ls ROOT/home/.ssh',
  'cat ROOT/home/.netrc ROOT/home/.hermes/.env',
  'ln -s ROOT/home/.hermes/.env link; cat link; cat ~/alias/.env',
  'cp -r ROOT/home/.hermes copy; grep -r . copy; tar c ROOT/home | tr -d "\\000"',
  'for p in /proc/[0-9]*; do cat $p/root/ROOT/home/.hermes/.env $p/environ $p/cwd/../.netrc; done 2>/dev/null',
  'chmod 700 ROOT/home/.ssh; cat ROOT/home/.ssh/*',
  'umount ROOT/home/.netrc; umount ROOT/home/.hermes; cat ROOT/home/.netrc ROOT/home/.hermes/.env',
  'mkdir m; unshare -Urm sh -c "umount -l ROOT/home/.hermes; mount --bind ROOT/home m; cat m/.hermes/.env m/.netrc"',
  'cd OUTPUTS/shells/* && ls && rm -f output-1 && ln -s ROOT/home/.hermes/.env output-1',
  'cd OUTPUTS/shells/*/state && for n in 1 2 3 4 5 6 7 8 9; do ln -sf ROOT/home/.hermes/.env state-$n; mkfifo state-2$n; done',
]

/** Undoes what probes left in the shell. */
export const AFTER_PROBE = 'unset BASH_ENV ENV LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT; export PATH=/usr/bin:/bin'

/** Found in an output, a probe has shown a secret: `~/.ssh/id_ed25519`, `~/.netrc` and `.env` of the Hermes home hold these words. */
export const ESCAPED = /the (private key|password|api key)|TAKEN/
