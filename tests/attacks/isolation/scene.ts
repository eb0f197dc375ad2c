import { execFileSync, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { getPriority, homedir, tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Plant } from './probes.js'

const CONNECT = `const net = require('node:net')
const [, , where] = process.argv
const socket = where.startsWith('tcp:') ? net.connect(Number(where.slice(4)), '127.0.0.1') : net.connect(where.startsWith('@') ? '\\0' + where.slice(1) : where)
socket.on('data', (text) => { console.log(String(text)); process.exit() })
socket.on('error', (error) => { console.log(error.code); process.exit(1) })
setTimeout(() => process.exit(1), 1000)
`

/** A folder with a stand-in home, a workspace, what must stay as it is, and a process outside. */
export interface AttackScene {
  readonly at: Readonly<Record<'ROOT' | 'HOME' | 'WORK' | 'HERMES' | 'OUT' | 'OUTPUTS', string>>
  readonly bystander: { readonly pid: number; isWell(): boolean }
  /** Everything that must never come out. */
  readonly secrets: Set<string>
  readonly reached: string[]
  readonly port: number
  fill(text: string, id: string): string
  secretOf(id: string): string
  plant(plant: Plant, id: string): Promise<void>
  /** Takes away what was planted, and what is in the workspace. */
  clear(): Promise<void>
  /** What is outside, by path. */
  look(): ReadonlyMap<string, string>
  /** Makes the home anew. */
  reset(): void
  close(): Promise<void>
}

export async function openScene(): Promise<AttackScene> {
  const ROOT = realpathSync(mkdtempSync(join(homedir(), '.hermes-attack-')))
  const HOME = join(ROOT, 'home')
  const at = {
    ROOT,
    HOME,
    WORK: join(HOME, 'work'),
    HERMES: join(HOME, '.hermes'),
    OUT: join(ROOT, 'out'),
    OUTPUTS: join(HOME, '.hermes/cache/terminal/mine'),
  }
  const mark = randomBytes(4).toString('hex')
  const fixed = `S3CRET${mark}fixed`
  const secrets = new Set([fixed])
  const reached: string[] = []
  const servers: Server[] = []
  const planted = new Set<string>()
  const before = new Map<string, string>()
  const touched = new Set<string>()
  let template: string | undefined
  const listen = async (path: string): Promise<Server> => {
    const server = createServer((socket) => {
      reached.push(path)
      socket.on('error', () => {})
      socket.end(`${fixed}\n`)
    })
    server.unref()
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
    return server
  }
  const tcp = await new Promise<Server>((resolve) => {
    const server = createServer((socket) => {
      reached.push('loopback')
      socket.on('error', () => {})
      socket.end(`${fixed}\n`)
    })
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
  tcp.unref()
  const port = (tcp.address() as { port: number }).port
  const child = spawn('bash', ['-c', `exec -a attack-bystander-${fixed} sleep 100000`], {
    env: { PATH: '/usr/bin:/bin', API_KEY: fixed },
    cwd: '/',
    stdio: 'ignore',
    detached: true,
  })
  child.unref()
  const niceness = getPriority()
  const scene: AttackScene = {
    at,
    secrets,
    reached,
    port,
    bystander: {
      pid: child.pid!,
      isWell() {
        if (child.exitCode !== null || child.signalCode !== null) return false
        const text = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
        const [state, , , , , , , , , , , , , , , , nice] = text.slice(text.lastIndexOf(')') + 2).split(' ')
        return state !== 'T' && state !== 't' && state !== 'Z' && Number(nice) === niceness
      },
    },
    secretOf(id) {
      const secret = `S3CRET${mark}${createHash('sha256').update(id).digest('hex').slice(0, 10)}`
      secrets.add(secret)
      return secret
    },
    fill(text, id) {
      const word = `hx${mark}${id.replaceAll(/[^a-z\d]/g, '')}`
      return text
        .replaceAll('@SECRET@', () => scene.secretOf(id.startsWith('variable') ? id : id.replace(/-\d+$/, '')))
        .replaceAll('@ID@', word)
        .replaceAll('@TMP@', `/tmp/${word}-t`)
        .replaceAll('@NODE@', process.execPath)
        .replaceAll('@CONNECT@', `${process.execPath} ${ROOT}/tools/connect.cjs`)
        .replaceAll('@PID@', String(child.pid))
        .replaceAll('@AGENT@', String(process.pid))
        .replaceAll('@PORT@', String(port))
        .replaceAll('@TAKEN@', `taken-${mark}`)
        .replaceAll(/@(ROOT|HOME|WORK|HERMES|OUT)@/g, (_, name: keyof typeof at) => at[name])
    },
    async plant(plant, id) {
      const fill = (text: string) => scene.fill(text, id)
      const remember = (path: string) => {
        if (existsSync(path) && !touched.has(path) && lstatSync(path).isFile())
          before.set(path, readFileSync(path, 'latin1'))
        touched.add(path)
        let top = path
        if (exists(path)) {
          planted.add(path)
          return
        }
        while (!exists(dirname(top))) top = dirname(top)
        planted.add(top)
        mkdirSync(dirname(path), { recursive: true })
      }
      for (const path of plant.remove ?? []) rmSync(fill(path), { recursive: true, force: true })
      for (const path of plant.dirs ?? []) {
        if (!exists(fill(path))) remember(fill(path))
        mkdirSync(fill(path), { recursive: true })
      }
      for (const [path, text] of Object.entries(plant.files ?? {})) {
        remember(fill(path))
        writeFileSync(fill(path), fill(text), { mode: 0o600 })
      }
      for (const [path, text] of Object.entries(plant.replace ?? {})) {
        writeFileSync(`${fill(path)}.new`, fill(text))
        renameSync(`${fill(path)}.new`, fill(path))
      }
      for (const path of plant.repositories ?? []) {
        if (!exists(fill(path))) remember(fill(path))
        repository(fill(path))
      }
      for (const [path, target] of Object.entries(plant.links ?? {})) {
        remember(fill(path))
        if (!exists(fill(path))) symlinkSync(fill(target), fill(path))
      }
      for (const path of plant.sockets ?? []) {
        try {
          if (!path.startsWith('\0')) remember(fill(path))
          servers.push(await listen(fill(path)))
        } catch {
          // Not a place where this user may bind one.
        }
      }
      for (const path of plant.foreign ?? []) {
        chmodSync(fill(path), 0o700)
        if (process.getuid?.() === 0) chownSync(fill(path), 54321, 54321)
      }
    },
    async clear() {
      for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve))
      for (const path of planted)
        if (path !== at.HOME && path !== at.WORK) rmSync(path, { recursive: true, force: true })
      planted.clear()
      for (const [path, text] of before) {
        mkdirSync(dirname(path), { recursive: true })
        writeFileSync(path, text, 'latin1')
      }
      before.clear()
      touched.clear()
      for (const name of readdirSync('/tmp'))
        if (name.includes(`hx${mark}`) && join('/tmp', name) !== template)
          rmSync(join('/tmp', name), { recursive: true, force: true })
      if (!exists(at.WORK) || !lstatSync(at.WORK).isDirectory()) {
        rmSync(at.WORK, { force: true })
        mkdirSync(at.WORK, { recursive: true })
      }
      try {
        for (const name of readdirSync(at.WORK)) rmSync(join(at.WORK, name), { recursive: true, force: true })
      } catch {
        execFileSync('chmod', ['-R', 'u+rwX', at.WORK], { stdio: 'ignore' })
        execFileSync('find', [at.WORK, '-mindepth', '1', '-delete'], { stdio: 'ignore' })
      }
    },
    look() {
      const seen = new Map<string, string>()
      const visit = (path: string) => {
        if (
          path === at.WORK ||
          path === at.OUTPUTS ||
          path.startsWith(join(at.HERMES, 'cache')) ||
          path.endsWith('/s.sock')
        )
          return
        const stat = lstatSync(path)
        const kind = stat.isSymbolicLink()
          ? `link ${readlinkSync(path)}`
          : stat.isFile()
            ? `file ${stat.uid} ${stat.mtimeMs} ${hash(path, stat.size)}`
            : stat.isDirectory()
              ? 'folder'
              : 'other'
        seen.set(path, `${kind} ${stat.isSymbolicLink() ? '' : stat.mode.toString(8)}`)
        if (stat.isDirectory()) for (const name of readdirSync(path)) visit(join(path, name))
      }
      visit(ROOT)
      return seen
    },
    reset() {
      rmSync(at.HOME, { recursive: true, force: true })
      rmSync(at.OUT, { recursive: true, force: true })
      for (const name of readdirSync(ROOT)) rmSync(join(ROOT, name), { recursive: true, force: true })
      const files: Record<string, string> = {
        'home/.ssh/id_rsa': `-----BEGIN OPENSSH PRIVATE KEY-----\n${fixed}\n`,
        'home/.ssh/config': 'Host x\n',
        'home/.netrc': `machine x login y password ${fixed}\n`,
        'home/.bashrc': '# mine\n',
        'home/.profile': '# mine\n',
        'home/.gitconfig': '[user]\n name = Ada\n',
        'home/.config/git/ignore': '*.o\n',
        'home/notes.txt': 'may be read\n',
        'home/canary-open': 'x\n',
        'home/other/package.json': '{"name":"other"}\n',
        'home/elsewhere/a': 'x\n',
        'home/.hermes/.env': `OPENAI_API_KEY=${fixed}\n`,
        'home/.hermes/auth.json': `{"key":"${fixed}"}\n`,
        'home/.hermes/config.yaml': 'model: x\n',
        'out/canary': 'untouched\n',
        'tools/connect.cjs': CONNECT,
      }
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(ROOT, path)), { recursive: true })
        writeFileSync(join(ROOT, path), text)
      }
      mkdirSync(at.WORK)
      if (template === undefined) {
        repository(join(HOME, 'other'))
        template = mkdtempSync(join(tmpdir(), `hx${mark}-`))
        renameSync(join(HOME, 'other/.git'), join(template, 'git'))
      }
      cpSync(join(template, 'git'), join(HOME, 'other/.git'), { recursive: true })
    },
    async close() {
      await scene.clear()
      tcp.close()
      try {
        process.kill(-child.pid!, 'SIGKILL')
      } catch {
        // It has ended.
      }
      execFileSync('chmod', ['-R', 'u+rwX', ROOT], { stdio: 'ignore' })
      if (template !== undefined) rmSync(template, { recursive: true, force: true })
      rmSync(ROOT, { recursive: true, force: true })
    },
  }
  scene.reset()
  return scene
}

const exists = (path: string): boolean => {
  try {
    lstatSync(path)
    return true
  } catch {
    return false
  }
}

function hash(path: string, size: number): string {
  try {
    return size > 5_000_000 ? String(size) : createHash('sha256').update(readFileSync(path)).digest('hex')
  } catch (error) {
    return String((error as { code?: string }).code ?? basename(path))
  }
}

function repository(path: string): void {
  mkdirSync(path, { recursive: true })
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'init.defaultBranch=main', ...args], {
      cwd: path,
      env: { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent' },
      stdio: 'ignore',
    })
  // Without the examples of hooks, which would be looked at after each probe.
  git('init', '-q', '--template=')
  git('commit', '-q', '--allow-empty', '-m', 'first')
}
