import { describe, expect, it } from 'vitest'
import { destroyedPaths, isDestructive } from './is-destructive.js'

describe('isDestructive', () => {
  it.each([
    'rm a',
    'rmdir a',
    'cp a b',
    'install a b',
    'mv a b',
    'sed -i s/a/b/ x',
    'sed --in-place s/a/b/ x',
    'truncate -s 0 x',
    'dd of=x',
    'shred x',
    'git reset --hard',
    'git -C x clean -f',
    'git checkout main',
    'echo a > x',
    'echo a >| x',
    'cmd &> x',
    'ls && (cd x; mv a b)',
    'find . -exec rm {} +',
    "bash -c 'echo a > b'",
    'sudo cp a b',
    'chmod -R 000 .',
    'ln -sf a b',
    'echo a | tee b',
    'find . -name x -delete',
    'tar xzf a.tgz',
    'tar -xf a.tar',
    'unzip -o a.zip',
    'perl -pi -e s/a/b/ x',
    'python3 -c \'import shutil; shutil.rmtree("data")\'',
    'python fix.py',
    'node scripts/migrate.mjs',
    'git stash --all',
    'git switch -f main',
    'git pull --rebase',
    'make clean',
    'npm run clean',
    'cargo fmt',
    'eslint --fix .',
    'prettier --write .',
    'curl -o x https://a.example',
  ])('is true for %s', (command) => {
    expect(isDestructive(command)).toBe(true)
  })

  it.each([
    '',
    'ls',
    'echo "rm a > b"',
    'echo a >> x',
    'ls 2>&1',
    'ls >/dev/null 2>&1',
    'sed s/a/b/ x',
    'git status',
    '[[ a > b ]]',
    '(( a > b ))',
    'cat < x',
    'echo a | tee -a b',
    'find . -name x',
    'tar czf - a',
    'tar -tf a.tar',
    'git log --oneline',
    'git diff',
    'make test',
    'npm test',
    'cargo build',
    'python --version',
    'grep -r a .',
    'curl https://a.example',
    'sort x',
  ])('is false for %s', (command) => {
    expect(isDestructive(command)).toBe(false)
  })
})

describe('destroyedPaths', () => {
  it.each([
    ['rm -rf build', ['/w/build']],
    ['cd ../other && rm a', ['/other/a']],
    ['rm -rf /data/cache/*', ['/data/cache']],
    ['cp a ~/b', ['~/b', '~/b/a']],
    ['echo x > ../y', ['/y']],
    ['rm *', ['/w']],
    ['ls; cat x', []],
    ['git reset --hard', []],
  ])('of %s are %j', (command, paths) => {
    expect(destroyedPaths(command, { cwd: '/w' })).toEqual(paths)
  })
})
