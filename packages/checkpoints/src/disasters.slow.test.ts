import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { describe, expect, it } from 'vitest'
import { fillWorkspace, stateOf, testPlace } from './__fixtures__/workspace.js'
import { createCheckpoints } from './checkpoints.js'

const DISASTERS: readonly (readonly [title: string, command: string])[] = [
  ['git clean of ignored files', 'git clean -fdX'],
  ['git clean of everything', 'git clean -ffdx'],
  ['git reset', 'git reset --hard'],
  ['git checkout of a folder', 'git checkout -- src'],
  ['git restore', 'git restore .'],
  ['git stash with untracked and ignored files', 'git stash --all'],
  ['git rm', 'git rm -rf src README.md'],
  ['rm of everything that is seen', 'rm -rf *'],
  ['rm of everything', 'rm -rf -- * .gitignore'],
  ['rm of a folder', 'rm -r src data'],
  ['unlink of one file', 'unlink README.md'],
  ['rmdir of empty folders', 'rmdir -p empty/within'],
  ['overwriting redirect', 'echo gone > src/main.ts'],
  ['redirect of nothing', ': > data/blob.bin'],
  [
    'same size overwritten, times put back',
    'touch -r debug.log /tmp/$$; printf "enil\\n" > debug.log; touch -r /tmp/$$ debug.log; rm /tmp/$$',
  ],
  ['truncation', 'truncate -s 3 src/main.ts data/rows.csv'],
  ['growth', 'truncate -s 20000 src/main.ts'],
  ['dd', 'dd if=/dev/zero of=data/blob.bin bs=100 count=1 conv=notrunc'],
  ['shred', 'shred -u secret.env'],
  ['mv over a file', 'mv README.md src/main.ts'],
  ['mv of a folder into another', 'mv src data/'],
  ['rename of a folder', 'mv src source'],
  ['cp over files', 'cp README.md src/main.ts && cp -r data src/'],
  ['install over a file', 'install -m 777 README.md script.sh'],
  ['tee', 'echo x | tee src/main.ts README.md'],
  ['chmod of everything', 'chmod -R 777 .'],
  ['chmod to nothing', 'chmod -R 000 src data private'],
  ['chmod of one file', 'chmod -x script.sh; chmod 644 secret.env'],
  ['a file becomes a link', 'rm README.md; ln -s /etc/hostname README.md'],
  ['a folder becomes a link out of the workspace', 'mv src ../stolen; ln -s ../stolen src; echo changed > src/main.ts'],
  ['a link becomes a file', 'rm link.ts; cp src/main.ts link.ts'],
  ['a link points elsewhere', 'ln -sfn data linked-folder; ln -sf README.md link.ts'],
  ['links replaced by what they point to', 'cp -rL linked-folder x; rm linked-folder; mv x linked-folder'],
  ['a file becomes a folder', 'rm README.md; mkdir -p README.md/inside; touch README.md/inside/x'],
  ['a folder becomes a file', 'rm -r src; echo file > src'],
  ['odd names', 'rm new* odd* *.txt; touch "new\nother"'],
  ['a nested repository', 'rm -rf nested vendor'],
  ['a formatter', 'for f in $(git ls-files); do tr a-z A-Z < $f > t && mv t $f; done'],
  ['hard links', 'ln -f README.md src/main.ts; echo both >> README.md'],
]

/** Disasters by programs that a machine may lack. */
const BY_PROGRAMS: readonly (readonly [program: string, title: string, command: string])[] = [
  ['find', 'find with delete', 'find . -type f -not -path "*/.git/*" -delete'],
  ['find', 'files put in everywhere', 'find . -type d -not -path "*/.git*" -exec touch {}/intruder \\;'],
  ['sed', 'sed in place', 'sed -i s/answer/question/g src/main.ts README.md'],
  ['perl', 'perl in place', "perl -pi -e 's/a/b/g' src/main.ts data/rows.csv"],
  [
    'tar',
    'unpacking over files',
    'tar cf ../t.tar README.md; echo 2 > README.md; tar xf ../t.tar; rm -r data; mkdir data',
  ],
  ['python3', 'a script', "python3 -c \"import shutil,os; shutil.rmtree('src'); os.rename('data','tada')\""],
]

/** A sixth of them in one run, drawn by HERMES_TEST_SEED; with HERMES_TEST_RUNS, all. */
const { HERMES_TEST_RUNS: RUNS, HERMES_TEST_SEED: SEED = '0' } = process.env
const drawn = DISASTERS.filter((_, index) => RUNS !== undefined || (index + Number(SEED)) % 6 === 0)

describe('a restore after a disaster', () => {
  it.each(drawn)('%s: brings every file back byte for byte', (_, command) => expectUndone(command))

  for (const [program, title, command] of BY_PROGRAMS)
    needs(missingPrograms(program))(title, () => {
      it('brings every file back byte for byte', () => expectUndone(command))
    })
})

async function expectUndone(command: string): Promise<void> {
  using place = testPlace()
  fillWorkspace(place)
  const before = stateOf(place.root)
  const checkpoints = createCheckpoints({ directory: place.directory })
  const { number } = await checkpoints.take(place.root, { kind: 'automatic', reason: command, runId: 'run' })
  place.run(command)
  const broken = stateOf(place.root)
  expect(broken).not.toEqual(before)
  await checkpoints.settle(place.root, 'run')

  const report = await checkpoints.restore(place.permit(), place.root, { wanted: String(number) })
  expect(report.conflicts).toEqual([])
  expect(stateOf(place.root)).toEqual(before)

  await checkpoints.restore(place.permit(), place.root, { wanted: String(report.undo?.number) })
  expect(stateOf(place.root)).toEqual(broken)
}
