import { execFileSync } from 'node:child_process'
import { chmod, copyFile, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findProgram } from './programs.js'

const FOLDERS = ['bin', 'dev', 'etc', 'proc', 'root', 'sys', 'tmp', 'usr', 'workspace']

/** Makes the files of a container with busybox and nothing else in `root`; anybody may write to its `/workspace`. */
export async function makeBusyboxRoot(root: string): Promise<void> {
  const busybox = findProgram('busybox')
  if (busybox === null) throw new Error('busybox is not installed.')
  for (const folder of FOLDERS) await mkdir(join(root, folder), { recursive: true })
  await chmod(join(root, 'workspace'), 0o777)
  await copyFile(busybox, join(root, 'bin/busybox'))
  const names = execFileSync(busybox, ['--list'], { encoding: 'utf8' }).split('\n').filter(Boolean)
  for (const name of names) if (name !== 'busybox') await symlink('busybox', join(root, 'bin', name))
  await symlink('../bin', join(root, 'usr/bin'))
  await writeFile(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n')
  await writeFile(join(root, 'etc/os-release'), 'PRETTY_NAME="Busybox"\n')
}
