import { choice, flag, map, oneOf, seconds, section, text, texts, whole } from './kinds.js'

/** `terminal`: where commands run and files live. */
export const TERMINAL = section({
  backend: text('local').describe('`local`, `ssh`, `docker`, `singularity`, `modal`, `daytona` or `vercel_sandbox`.'),
  cwd: text().describe(
    'Where the shell starts over there. Default: the home directory with ssh, `/workspace` in a container.',
  ),
  timeout: seconds(180).describe('Seconds a command may take.'),
  lifetime_seconds: seconds(300).describe(
    'Seconds until a container without any process stops, and a sandbox in a cloud without any request.',
  ),
  env_passthrough: texts().describe(
    'Names of variables that commands get although they look like secrets, and that go along to another machine.',
  ),
  login_shell: flag(true).describe(
    "Whether commands of this machine find what the start-up files of the user's shell set (`PATH` and the like).",
  ),
  // YAML 1.1 writes the words on and off as booleans.
  isolation: choice({ off: 'off', auto: 'auto', on: 'on', false: 'off', true: 'on' })('auto').describe(
    'Whether commands of this machine are held to the workspace: `auto` where that can be, `on` runs nothing elsewhere.',
  ),
  isolation_network: choice({ on: 'on', off: 'off', ask: 'ask', true: 'on', false: 'off' })('ask').describe(
    'Whether isolated commands reach the network: `ask` until text from outside was read that nobody vouches for, from then on after a question.',
  ),
  isolation_write: texts().describe('Further paths that isolated commands may write.'),
  isolation_read: texts().describe('Hidden paths that isolated commands may read all the same.'),
  sync_folders: texts().describe(
    '`SOURCE:TARGET` or `SOURCE:TARGET:ro` each: folders kept the same on both sides, over ssh and in clouds. Default none.',
  ),
  ssh_host: text(),
  ssh_user: text(),
  ssh_port: whole(1, 65_535)(),
  ssh_key: text().describe('A private key, used alone. Default: what ssh finds.'),
  ssh_host_keys: oneOf(
    'strict',
    'accept-new',
  )('strict').describe('`accept-new` takes the key of a host that was never seen.'),
  docker_image: text('nikolaik/python-nodejs:python3.11-nodejs20'),
  docker_volumes: texts().describe('`SOURCE:TARGET` or `SOURCE:TARGET:ro` each.'),
  docker_env: map().describe('Variables of commands in the container.'),
  docker_forward_env: texts().describe('Names of variables of this machine that commands in the container get.'),
  docker_extra_args: texts(),
  docker_mount_cwd_to_workspace: flag(false),
  docker_run_as_host_user: flag(false),
  docker_snap_compat: flag(false),
  docker_network: flag(true),
  docker_shm_size: text('1g'),
  singularity_image: text('docker://nikolaik/python-nodejs:python3.11-nodejs20').describe(
    'A file, a folder or an address such as `docker://debian:12`.',
  ),
  modal_image: text('nikolaik/python-nodejs:python3.11-nodejs20'),
  daytona_image: text('nikolaik/python-nodejs:python3.11-nodejs20').describe('An image, or the name of a snapshot.'),
  vercel_runtime: oneOf('node24', 'node22', 'python3.13')('node24').describe('`node24`, `node22` or `python3.13`.'),
  container_cpu: whole(0)(1).describe('Cores. Default 1; 0 is no limit.'),
  container_memory: whole(0)(5_120).describe('MB. Default 5,120; 0 is no limit.'),
  container_disk: whole(0)(51_200).describe('MB, on engines and in clouds that can. Default 51,200; 0 is no limit.'),
  container_persistent: flag(true).describe(
    'Whether `/workspace` and `/root` are kept, and the container between sessions; in a cloud, all files.',
  ),
})
