import { describe, expect, it } from 'vitest'
import { looksAlone, onlyLooks } from './only-looks.js'
import { writtenPaths } from './written-paths.js'

const LOOKS = [
  'ls -la src',
  'cat a b | head -n 5',
  'cd src && ls',
  'git status && git diff HEAD~1 -- src | cat',
  'git -C sub log --oneline -5',
  'git --no-pager show HEAD:a.ts',
  'git branch -a; git remote -v; git stash list; git tag',
  'grep -rn "rm -rf" . | sort | uniq -c',
  'rg --hidden "a > b"',
  "find . -name '*.ts' -not -path './node_modules/*'",
  'find . -type f -exec grep -l foo {} +',
  'find . -type f | xargs wc -l',
  'for f in *.ts; do echo "$f"; cat "$f"; done',
  'while read line; do echo "$line"; done < list',
  'if [ -f a ]; then cat a; fi',
  "sed -n '10,20p' a; sed -n -e 1p -e '$p' a; sed 's/a/b/g; s|c|d|' a",
  "awk -F, '{ print $1, $NF }' a",
  'node --version && python3 -V',
  'ls 2>/dev/null; ls >/dev/null 2>&1',
  "bash -c 'ls | wc -l'",
  'timeout 5 ls; time ls',
  'LC_ALL=C sort a',
  'n=$(wc -l < a); echo "$n"',
  'cat <<EOF\nrm a\nEOF',
  'echo "rm a > b"; date +%s; sleep 0',
  'command -v node; which python',
  'stat -c %s a; du -sh .; df -h; jq .name package.json',
  'diff <(ls a) <(ls b)',
  'git -c core.fsmonitor=false ls-files -- a',
  "rg --no-config --glob '!.git' -e 'NAME=x' -- .",
]
/** Everything that ran without a checkpoint before, and what hides behind a name from the table. */
const ACTS = [
  ...['bash x.sh', './x.sh', 'sh ./build', 'make', 'make test', 'npm run build', 'npm test', 'go run .', 'uv run a.py'],
  ...['cargo build', 'python3', 'python3 x.py', 'node -e 1', 'cat x | sh', 'source x', '. ./x', 'unknown', 'touch a'],
  ...['mkdir a', 'curl https://a.example', 'echo a >> x', 'echo a > x', 'ls > "$X"', 'tee -a b', 'export A=1', '$X a'],
  ...['./ls', 'bin/cat a', '/tmp/ls', 'sudo ls', 'exec ls', 'nohup ls', 'docker ps', 'npm ls', 'git commit -m a'],
  ...['git checkout main', 'git branch new', 'git branch -D a', 'git remote -v update', 'git stash', 'git tag v1'],
  ...[
    'git diff --output=x',
    'git log --outp x',
    'git diff --ext-diff',
    'git grep -Oless a',
    'git -c alias.st=!x status',
  ],
  ...['git -c core.fsmonitor=./x status', 'git --exec-path=. status', 'git reflog expire --all', 'git config a.b c'],
  ...[
    'find . -delete',
    'find . -fprint x',
    'find . -exec rm {} +',
    'find . | xargs rm',
    'find . | xargs sort',
    'find *',
  ],
  ...['find . $X', 'fd a -x rm', 'rg --pre ./x a', 'rg --pre=./x a', 'sort -o a a', 'sort --output=a a', 'sort *'],
  ...['sort --compress-program=./x a', 'uniq a b', 'date -s now', 'hostname new', 'tree -o a', 'xxd -r a b'],
  ...['sed -i s/a/b/ x', "sed 's/a/b/w x' y", "sed 's/a/b/e' y", "sed 'w x' y", 'sed -n "1e rm a" y', 'sed -f x y'],
  ...[
    "sed '1{w x\n}' y",
    'awk \'{ print > "x" }\' a',
    'awk \'{ system("x") }\' a',
    'awk \'{ print | "sh" }\' a',
    'awk -f x a',
  ],
  ...['PATH=. ls', 'env PATH=. ls', "env -S 'PATH=. ls'", 'env PATH=. -S ls', 'GIT_EXTERNAL_DIFF=./x git diff'],
  ...['LD_PRELOAD=./x cat a', 'PATH=.; ls', 'cat() { rm a; }; cat', 'alias ls=rm; ls', 'echo $(rm a)', 'echo `rm a`'],
  ...[
    '[[ a[$(rm a)] -eq 1 ]]',
    'echo \u0024{PATH:=a}',
    'A="x y" PATH=. ls',
    'A=1 ls',
    'eval ls $X',
    'ls; rm a',
    'ls && make',
    "bash -c 'ls; make'",
    "ls '",
  ],
  ...['trap "rm a" EXIT', 'cat a <> b', ':(){ :|:& };:', 'busybox ls', 'python3 --version -c 1'],
]

describe('onlyLooks', () => {
  it.each(LOOKS)('holds of %s', (command) => expect(onlyLooks(command)).toBe(true))

  it.each(ACTS)('does not hold of %s', (command) => expect(onlyLooks(command)).toBe(false))

  it('answers about words of a megabyte', () => {
    for (const part of ['a', '${', "'", ' ', 's/', ';', '1,', 'A='])
      onlyLooks(`sed -n ${part.repeat(1_000_000 / part.length)}`)
  })
})

describe('looksAlone', () => {
  it.each(['cd src', 'cd src && ls', 'x=1', 'set -e; ls', 'read x', 'exit 3', 'rm a', ''])(
    'does not hold of %j',
    (command) => {
      expect(looksAlone(command)).toBe(false)
    },
  )

  it.each(['ls', 'git log | head', 'grep -r a . && wc -l b'])('holds of %s', (command) => {
    expect(looksAlone(command)).toBe(true)
  })
})

describe('writtenPaths', () => {
  it.each([
    ['rm -rf build', ['/w/build']],
    ['cd ../other && rm a', ['/other/a']],
    ['rm -rf /data/cache/*', ['/data/cache']],
    ['cp a ~/b', ['~/b', '~/b/a']],
    ['echo x > ../y', ['/y']],
    ['echo x >> ../y', ['/y']],
    ['rm *', ['/w']],
    ['ls; cat x', []],
    ['git reset --hard', []],
  ])('of %s are %j', (command, paths) => {
    expect(writtenPaths(command, { cwd: '/w' })).toEqual(paths)
  })
})
