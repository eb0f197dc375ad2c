/** The `terminal` section: where commands run and files live. */
export interface TerminalSettings {
  /** `local`, `ssh`, `docker`, `singularity`, `modal`, `daytona` or `vercel_sandbox`. Default `local`. */
  readonly backend: string
  /** Where the shell starts over there. Default: the home directory with ssh, `/workspace` in a container. */
  readonly cwd?: string
  /** Seconds a command may take. Default 180. */
  readonly timeout: number
  /** Seconds until a container without any process stops, and a sandbox in a cloud without any request. Default 300. */
  readonly lifetime_seconds: number
  /** Names of variables that commands get although they look like secrets, and that go along to another machine. */
  readonly env_passthrough: readonly string[]
  /** Whether commands of this machine find what the start-up files of the user's shell set (`PATH` and the like). Default `true`. */
  readonly login_shell: boolean
  /** Whether commands of this machine are held to the workspace: `auto` where that can be, `on` runs nothing elsewhere. Default `auto`. */
  readonly isolation: 'off' | 'auto' | 'on'
  /** Whether isolated commands reach the network: `ask` only until text from outside was read, from then on after a question. Default `on`. */
  readonly isolation_network: 'on' | 'off' | 'ask'
  /** Further paths that isolated commands may write. */
  readonly isolation_write: readonly string[]
  /** Hidden paths that isolated commands may read all the same. */
  readonly isolation_read: readonly string[]
  /** `SOURCE:TARGET` or `SOURCE:TARGET:ro` each: folders kept the same on both sides, over ssh and in clouds. Default none. */
  readonly sync_folders: readonly string[]
  readonly ssh_host?: string
  readonly ssh_user?: string
  readonly ssh_port?: number
  /** A private key, used alone. Default: what ssh finds. */
  readonly ssh_key?: string
  /** `accept-new` takes the key of a host that was never seen. Default `strict`. */
  readonly ssh_host_keys: 'strict' | 'accept-new'
  readonly docker_image: string
  /** `SOURCE:TARGET` or `SOURCE:TARGET:ro` each. */
  readonly docker_volumes: readonly string[]
  /** Variables of commands in the container. */
  readonly docker_env: Readonly<Record<string, unknown>>
  /** Names of variables of this machine that commands in the container get. */
  readonly docker_forward_env: readonly string[]
  readonly docker_extra_args: readonly string[]
  readonly docker_mount_cwd_to_workspace: boolean
  readonly docker_run_as_host_user: boolean
  readonly docker_snap_compat: boolean
  /** Default `true`. */
  readonly docker_network: boolean
  /** Default `1g`. */
  readonly docker_shm_size: string
  /** A file, a folder or an address such as `docker://debian:12`. */
  readonly singularity_image: string
  readonly modal_image: string
  /** Sandboxes of Modal are made with a token of one's own, by either word. Default `auto`. */
  readonly modal_mode: 'auto' | 'direct'
  /** An image, or the name of a snapshot. */
  readonly daytona_image: string
  /** `node24`, `node22` or `python3.13`. Default `node24`. */
  readonly vercel_runtime: string
  /** Cores. Default 1; 0 is no limit. */
  readonly container_cpu: number
  /** MB. Default 5,120; 0 is no limit. */
  readonly container_memory: number
  /** MB, on engines and in clouds that can. Default 51,200; 0 is no limit. */
  readonly container_disk: number
  /** Whether `/workspace` and `/root` are kept, and the container between sessions; in a cloud, all files. Default `true`. */
  readonly container_persistent: boolean
}

const text = { type: 'text' } as const
const texts = { type: 'texts' } as const
const no = { type: 'boolean', default: false } as const
const yes = { type: 'boolean', default: true } as const
const whole = (value: number) => ({ type: 'number', min: 0, default: value }) as const
const VERCEL_RUNTIMES = { node24: 'node24', node22: 'node22', 'python3.13': 'python3.13' }
const SECONDS = { min: 1, max: 2_147_483 }

/** What `config.yaml` may hold under `terminal`. */
export const TERMINAL_FIELDS = {
  backend: { type: 'text', default: 'local' },
  cwd: text,
  timeout: { type: 'number', ...SECONDS, default: 180 },
  lifetime_seconds: { type: 'number', ...SECONDS, default: 300 },
  env_passthrough: texts,
  login_shell: yes,
  // YAML 1.1 writes the words on and off as booleans.
  isolation: {
    type: 'choice',
    words: { off: 'off', auto: 'auto', on: 'on', false: 'off', true: 'on' },
    default: 'auto',
  },
  isolation_network: {
    type: 'choice',
    words: { on: 'on', off: 'off', ask: 'ask', true: 'on', false: 'off' },
    default: 'on',
  },
  isolation_write: texts,
  isolation_read: texts,
  sync_folders: texts,
  ssh_host: text,
  ssh_user: text,
  ssh_port: { type: 'number', min: 1, max: 65_535 },
  ssh_key: text,
  ssh_host_keys: { type: 'choice', words: { strict: 'strict', 'accept-new': 'accept-new' }, default: 'strict' },
  docker_image: { type: 'text', default: 'nikolaik/python-nodejs:python3.11-nodejs20' },
  docker_volumes: texts,
  docker_env: { type: 'map' },
  docker_forward_env: texts,
  docker_extra_args: texts,
  docker_mount_cwd_to_workspace: no,
  docker_run_as_host_user: no,
  docker_snap_compat: no,
  docker_network: yes,
  docker_shm_size: { type: 'text', default: '1g' },
  singularity_image: { type: 'text', default: 'docker://nikolaik/python-nodejs:python3.11-nodejs20' },
  modal_image: { type: 'text', default: 'nikolaik/python-nodejs:python3.11-nodejs20' },
  modal_mode: { type: 'choice', words: { auto: 'auto', direct: 'direct' }, default: 'auto' },
  daytona_image: { type: 'text', default: 'nikolaik/python-nodejs:python3.11-nodejs20' },
  vercel_runtime: { type: 'choice', words: VERCEL_RUNTIMES, default: 'node24' },
  container_cpu: whole(1),
  container_memory: whole(5_120),
  container_disk: whole(51_200),
  container_persistent: yes,
} as const satisfies Record<keyof TerminalSettings, unknown>
