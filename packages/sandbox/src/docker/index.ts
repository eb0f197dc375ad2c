export type { ContainerOptions, Mount } from './container-options.js'
export { type DockerOptions, openDockerEnvironment, probeDocker } from './open-docker.js'
