const HARMLESS =
  /^\/dev\/(?:null|zero|full|stdin|stdout|stderr|tty\w*|ptmx|pts\/.*|fd\/.*|shm\/.*|u?random|tcp\/.*|udp\/.*)$/

/** Whether a path below `/dev` is not a disk, memory or port: terminals, `null`, shared memory. */
export function isMadeFile(path: string): boolean {
  return HARMLESS.test(path)
}
