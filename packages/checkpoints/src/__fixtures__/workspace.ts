// A workspace with everything a project may hold, and a way to compare two states of it byte for byte.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Permit } from '@hermes/contracts/policy'
import { createPermit } from '@hermes/safety'

const ODD_BYTES = Buffer.from([0x6f, 0x64, 0x64, 0xff, 0xfe, 0x2e, 0x62, 0x69, 0x6e])

/** A folder of its own for one test, with a workspace and a place for checkpoints in it. */
export interface TestPlace extends Disposable {
  readonly root: string
  readonly directory: string
  /** Runs a command line in the workspace; a failure is the command's own business. */
  run(command: string): void
  /** The same, and what it prints. */
  output(command: string): string
  permit(): Permit
}

/** An empty workspace. */
export function testPlace(): TestPlace {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'hermes-checkpoints-'))
  const root = join(base, 'workspace')
  mkdirSync(root)
  return {
    root,
    directory: join(base, 'checkpoints'),
    run: (command) => shell(root, command),
    output: (command) => execFileSync('bash', ['-c', command], { cwd: root, encoding: 'utf8' }),
    permit: () => createPermit({ type: 'write', path: root, operation: 'write', backend: 'local' }),
    [Symbol.dispose]: () => {
      execFileSync('chmod', ['-R', 'u+rwX', base])
      rmSync(base, { recursive: true, force: true })
    },
  }
}

/** A git repository with committed, changed, untracked and ignored files, modes, links, empty things and odd names. */
export function fillWorkspace({ root, run }: TestPlace): void {
  const write = (path: string, content: string | Buffer) => writeFileSync(join(root, path), content)
  for (const folder of ['src/deep/er', 'empty/within', 'data', 'build', 'private', 'vendor/lib'])
    mkdirSync(join(root, folder), { recursive: true })
  write('.gitignore', 'data/\nbuild/\n*.log\nsecret.env\n')
  write('README.md', '# A project\n\nSome words.\n')
  write('src/main.ts', 'export const answer = 42\n'.repeat(50))
  write('src/deep/er/leaf.ts', 'leaf\n')
  run('git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -qm one')
  write('src/main.ts', `${'export const answer = 43\n'.repeat(50)}// changed, not committed\n`)
  write('data/rows.csv', 'a,b\n1,2\n')
  write('data/blob.bin', Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 7) % 256)))
  write('build/out.js', 'built')
  write('debug.log', 'line\n')
  write('secret.env', 'KEY=1\n')
  write('empty.txt', '')
  write('new\nline.txt', 'a name with a line end')
  write(' spaces and "quotes" \\.txt', 'odd')
  write('ünïcödé-文件.txt', 'unicode')
  writeFileSync(Buffer.concat([Buffer.from(`${root}/`), ODD_BYTES]), 'not UTF-8')
  write('script.sh', '#!/bin/sh\necho hi\n')
  chmodSync(join(root, 'script.sh'), 0o755)
  chmodSync(join(root, 'secret.env'), 0o600)
  chmodSync(join(root, 'private'), 0o700)
  write('private/key', 'k')
  chmodSync(join(root, 'private/key'), 0o400)
  symlinkSync('src/main.ts', join(root, 'link.ts'))
  symlinkSync('../nowhere', join(root, 'dangling'))
  symlinkSync('src', join(root, 'linked-folder'))
  run('git init -q vendor/lib && echo inner > vendor/lib/inner.txt && git init -q nested && echo n > nested/file')
}

/** Every path below the workspace but the insides of `.git` and `node_modules`: kind, mode, content or target. */
export function stateOf(root: string): Readonly<Record<string, string>> {
  const state: Record<string, string> = { '': (lstatSync(root).mode & 0o7777).toString(8) }
  const walk = (folder: Buffer, prefix: string) => {
    for (const name of readdirSync(folder, 'buffer')) {
      const path = Buffer.concat([folder, Buffer.from('/'), name])
      const key = prefix + name.toString('latin1')
      const stats = lstatSync(path)
      const mode = (stats.mode & 0o7777).toString(8)
      if (['.git', 'node_modules'].includes(name.toString())) continue
      if (stats.isSymbolicLink()) state[key] = `link ${readlinkSync(path, 'latin1')}`
      else if (stats.isDirectory()) {
        state[key] = `folder ${mode}`
        walk(path, `${key}/`)
      } else if (stats.isFile()) state[key] = `file ${mode} ${readFileSync(path, 'latin1')}`
      else state[key] = 'special'
    }
  }
  walk(Buffer.from(root), '')
  return state
}

function shell(cwd: string, command: string): void {
  try {
    execFileSync('bash', ['-c', command], { cwd, stdio: 'ignore' })
  } catch {}
}
