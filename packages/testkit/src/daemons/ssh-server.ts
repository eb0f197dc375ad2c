import { execFileSync, spawn } from 'node:child_process'
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findProgram, freePort } from './programs.js'

/** A real sshd on a loopback port, for the user that runs the tests. */
export interface SshServer {
  readonly port: number
  /** A private key it accepts. */
  readonly identityFile: string
  /** A key it does not accept. */
  readonly strangerFile: string
  /** Holds its host key. */
  readonly knownHostsFile: string
  /** A folder for files of the test; removed with the server. */
  readonly directory: string
  /** Ends every connection at once and takes no more. */
  stop(): Promise<void>
}

/** Starts sshd from openssh-server with keys of its own. @throws when sshd is missing or does not start. */
export async function startSshServer(): Promise<SshServer> {
  const [sshd, keygen] = [findProgram('sshd'), findProgram('ssh-keygen')]
  if (sshd === null || keygen === null) throw new Error('OpenSSH is not installed.')
  const directory = await mkdtemp('/tmp/hermes-sshd-')
  await chmod(directory, 0o700)
  const file = (name: string) => join(directory, name)
  for (const key of ['host', 'id', 'stranger']) {
    execFileSync(keygen, ['-q', '-t', 'ed25519', '-N', '', '-f', file(key)], { stdio: 'ignore' })
  }
  await copyFile(file('id.pub'), file('authorized_keys'))
  // What the profile of the person at this machine does takes longer than the commands of most tests, and may change what they see.
  await mkdir(file('home'))
  const port = await freePort()
  await writeFile(file('sshd_config'), configuration(port, file))
  const hostKey = (await readFile(file('host.pub'), 'utf8')).split(' ').slice(0, 2).join(' ')
  await writeFile(file('known_hosts'), `[127.0.0.1]:${port} ${hostKey}\n`)
  // Privilege separation wants this folder; only root runs with it.
  await mkdir('/run/sshd', { recursive: true }).catch(() => undefined)
  const daemon = spawn(sshd, ['-D', '-e', '-f', file('sshd_config')], {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await listening(daemon.stderr, daemon)
  return {
    port,
    identityFile: file('id'),
    strangerFile: file('stranger'),
    knownHostsFile: file('known_hosts'),
    directory,
    async stop() {
      // Its children for each connection have sessions of their own, but the process group is theirs too.
      if (daemon.exitCode === null) process.kill(-daemon.pid!, 'SIGTERM')
      await rm(directory, { recursive: true, force: true })
    },
  }
}

const configuration = (port: number, file: (name: string) => string) => `Port ${port}
ListenAddress 127.0.0.1
HostKey ${file('host')}
AuthorizedKeysFile ${file('authorized_keys')}
PidFile ${file('sshd.pid')}
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
PermitRootLogin prohibit-password
MaxStartups 100
Subsystem sftp internal-sftp
SetEnv HOME=${file('home')}
`

function listening(stderr: NodeJS.ReadableStream, daemon: NodeJS.EventEmitter): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = ''
    stderr.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes('Server listening')) resolve()
    })
    daemon.once('exit', () => reject(new Error(`sshd did not start: ${text}`)))
  })
}
