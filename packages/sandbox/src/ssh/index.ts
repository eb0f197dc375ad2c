export { openSshEnvironment, type SshOptions } from './open-ssh.js'
export type { SshTarget } from './ssh-host.js'
