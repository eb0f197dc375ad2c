import { execFileSync, spawnSync } from 'node:child_process'
import { chmod, copyFile, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { findProgram } from './programs.js'

const FOLDERS = ['bin', 'dev', 'etc', 'proc', 'root', 'sys', 'tmp', 'usr', 'workspace']

/** Makes the files of a container with busybox and nothing else in `root`; anybody may write to its `/workspace`. */
export async function makeBusyboxRoot(root: string): Promise<void> {
  const busybox = findProgram('busybox')
  if (busybox === null) throw new Error('busybox is not installed.')
  for (const folder of FOLDERS) await mkdir(join(root, folder), { recursive: true })
  await chmod(join(root, 'workspace'), 0o777)
  await copyFile(busybox, join(root, 'bin/busybox'))
  for (const library of librariesOf(busybox)) {
    await mkdir(dirname(join(root, library)), { recursive: true })
    await copyFile(library, join(root, library))
  }
  const names = execFileSync(busybox, ['--list'], { encoding: 'utf8' }).split('\n').filter(Boolean)
  for (const name of names) if (name !== 'busybox') await symlink('busybox', join(root, 'bin', name))
  await symlink('../bin', join(root, 'usr/bin'))
  await writeFile(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n')
  await writeFile(join(root, 'etc/os-release'), 'PRETTY_NAME="Busybox"\n')
}

/** What a busybox that is not linked statically needs beside it. */
function librariesOf(program: string): readonly string[] {
  const { stdout } = spawnSync('ldd', [program], { encoding: 'utf8' })
  return [...(stdout ?? '').matchAll(/(?:^|\s)(\/\S+) \(0x/g)].map(([, path]) => path!)
}
