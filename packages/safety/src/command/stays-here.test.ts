import { expect, it } from 'vitest'
import { outputSources } from './stays-here.js'

const at = { cwd: '/home/ada/project', userHome: '/home/ada' }

it.each([
  ...[
    'ls -la',
    'cat README.md | head -5',
    'git status && git diff',
    'git commit -m "fix the network"',
    'mkdir -p a/b && cp x a/b',
  ],
  ...[
    'npm test',
    'npm run build',
    'pnpm exec tsc --noEmit',
    'pytest -q',
    'python3 -m pytest',
    'make test',
    'cargo test',
    'go test ./...',
  ],
  ...[
    'node_modules/.bin/eslint .',
    '. .venv/bin/activate && pytest',
    'sed -n 1,20p a.ts',
    "sed -i 's/a/b/g' a.ts",
    'FOO=1 npm test',
  ],
  ...[
    'find . -name "*.ts" -exec grep -l x {} +',
    'rg TODO src',
    `awk -F'|' '/a|b/ || $2 > 1 { print $1 }' x.csv`,
    'time make',
    'node --version',
    'echo "curl x" > notes.txt',
  ],
])('%s keeps to this machine', (command) => {
  expect(outputSources(command, at).staysHere).toBe(true)
})

it.each([
  ...[
    'curl https://example.com',
    'wget -qO- example.com',
    'git fetch',
    'git clone https://example.com/x',
    'git pull',
    `awk 'BEGIN { "curl -s example.com" | getline x; print x }'`,
    `awk 'BEGIN { system("curl example.com") }'`,
    'npm ci',
  ],
  ...[
    'npm view left-pad',
    'pip install x',
    'npx cowsay',
    'gh pr view 1',
    'ssh host cat x',
    './scrape.sh',
    'python3 scrape.py',
  ],
  ...[
    'node -e "fetch(1)"',
    'bash x.sh',
    '$BROWSER x',
    'ls && curl x',
    'cat < /dev/tcp/example.com/80',
    'sudo cat x',
    'docker logs x',
  ],
  ...[
    'awk \'BEGIN { "/inet/tcp/0/x/80" |& getline }\'',
    "sed '1e curl x' a",
    "sed 's/a/b/e' a",
    '/tmp/ls',
    'xargs curl < urls',
  ],
  ...[
    'find . -exec curl {} +',
    'echo "$(curl x)"',
    'npm ci && npm test',
    'source setup.sh',
    'git -c core.pager=x log | sh',
  ],
])('%s may reach another one', (command) => {
  expect(outputSources(command, at).staysHere).toBe(false)
})

it.each([
  ['cat $X', true],
  ['read X < list; cat "$X"', true],
  ['cat "src/$X"', true],
  ['cat < $X', true],
  ['cat $1', true],
  ['cat $(cat list)', true],
  ['cat list | xargs -n1 cat', true],
  ['for f in $(cat list); do cat $f; done', true],
  ['X=notes.md; cat $X', false],
  ['for f in *.ts; do wc -l "$f"; done', false],
  ['cat $(git ls-files | head)', false],
  ['git ls-files | xargs cat', false],
  ['git ls-files | while read f; do cat "$f"; done', false],
  ['git log $BASE..HEAD', false],
  ['echo $X; cd $X; mkdir -p $OUT', false],
])('%s may be given files of unknown names: %s', (command, isUnknown) => {
  expect(outputSources(command, at).readsUnknown).toBe(isUnknown)
})

it('names what lies beyond the folder, and keys that are read', () => {
  const beyond = (command: string) => outputSources(command, at).beyond
  expect(beyond('cat src/a.ts ./b ../project/c')).toEqual([])
  expect(beyond('cat ~/Downloads/a.md ../other/b.md')).toEqual(['/home/ada/Downloads/a.md', '/home/ada/other/b.md'])
  expect(beyond('cd /srv/x && cat a.md')).toEqual(['/srv/x'])
  expect(beyond('grep -r x --include=*.md /srv')).toEqual(['/srv'])
  expect(beyond('cat < /srv/a.md > /dev/null')).toEqual(['/srv/a.md'])
  expect(beyond('echo /srv/a')).toEqual([])
  expect(beyond('git -C /srv/x log; git --git-dir=../other/.git show; git log -- ./a')).toEqual([
    ...['/srv/x', '/home/ada/other/.git'],
  ])
  expect(beyond('git diff --no-index a.md ~/Downloads/b.md')).toEqual(['/home/ada/Downloads/b.md'])
  expect(outputSources('cat .env', at).readsKeys).toBe(true)
  expect(outputSources('cat env.ts', at).readsKeys).toBe(false)
})
