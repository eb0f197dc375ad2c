// A repository whose settings, attributes and hooks make git run a program that leaves a canary.
import { execFileSync } from 'node:child_process'
import { appendFile, chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const HOOKS = ['post-index-change', 'post-checkout', 'pre-commit', 'prepare-commit-msg', 'post-commit']
const SIGNED =
  'author a <a@b.c> 1700000000 +0000\ncommitter a <a@b.c> 1700000000 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n\nsigned\n'

/**
 * Turns the repository in `cwd`, which has a commit of the file `path`, against whoever looks at it; gives what reads the canaries. Its program
 * lies in `programs`, and `filter` is what its filter is called.
 */
export async function makeHostile(
  cwd: string,
  path: string,
  programs: string = join(cwd, '.git'),
  filter: Uint8Array = Buffer.from('e.vil'),
): Promise<() => Promise<string>> {
  const git = (...args: string[]) => execFileSync('git', args, { cwd, encoding: 'utf8' }).trim()
  const [program, canaries] = [join(programs, 'program.sh'), join(programs, 'canaries')]
  const tree = git('rev-parse', 'HEAD^{tree}')
  await writeFile(join(cwd, '.git', 'signed'), `tree ${tree}\nparent ${git('rev-parse', 'HEAD')}\n${SIGNED}`)
  git('update-ref', 'HEAD', git('hash-object', '-t', 'commit', '-w', join('.git', 'signed')))

  await mkdir(programs, { recursive: true })
  await writeFile(program, `#!/bin/sh\necho "$0 $*" >> '${canaries}'\ncat\n`)
  await chmod(program, 0o755)
  await mkdir(join(cwd, '.git', 'hooks'), { recursive: true })
  for (const hook of HOOKS) {
    await writeFile(join(cwd, '.git', 'hooks', hook), `#!/bin/sh\nexec '${program}' ${hook}\n`)
    await chmod(join(cwd, '.git', 'hooks', hook), 0o755)
  }
  const bytes = (...parts: readonly (string | Uint8Array)[]) => Buffer.concat(parts.map((part) => Buffer.from(part)))
  await writeFile(join(cwd, '.git', 'info', 'attributes'), bytes(`${path} diff=evil merge=evil filter=`, filter, '\n'))
  const settings = [
    ...['core.fsmonitor', 'core.pager', 'pager.diff', 'diff.external', 'gpg.program', 'core.sshCommand', 'core.editor'],
    ...['diff.evil.textconv', 'diff.evil.command', 'merge.evil.driver'],
  ]
  for (const name of settings) git('config', name, program)
  const commands = `"]\n\tclean = ${program} clean\n\tsmudge = ${program} smudge\n`
  await appendFile(join(cwd, '.git', 'config'), bytes('[filter "', filter, commands))
  git('config', 'format.pretty', '%G? %s')
  git('config', 'log.showSignature', 'true')
  return () => readFile(canaries, 'utf8').catch(() => '')
}
