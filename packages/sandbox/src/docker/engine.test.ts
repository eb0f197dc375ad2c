import { expect, it } from 'vitest'
import { engineFailure } from './engine.js'

it.each([
  [
    'Cannot connect to the Docker daemon at unix:///run/docker.sock. Is the docker daemon running?',
    'engine_unavailable',
  ],
  [
    'Error: unable to connect to Podman socket: dial unix /run/podman.sock: connect: no such file',
    'engine_unavailable',
  ],
  [
    'permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: dial unix /var/run/docker.sock: connect: permission denied',
    'engine_permission',
  ],
  ["Unable to find image 'x:1' locally\ndocker: Error response from daemon: pull access denied for x", 'image_missing'],
  ['Error: initializing source docker://127.0.0.1:1/x: pinging container registry 127.0.0.1:1', 'image_missing'],
  ['Error response from daemon: No such container: 3f2a', 'container_gone'],
  ['Error response from daemon: Container 3f2a is not running', 'container_gone'],
  ['Error: no container with name or ID "x" found: no such container', 'container_gone'],
  ['Error: container-init binary not found on the host: stat /usr/libexec/podman/catatonit', 'engine_incomplete'],
  [
    'OCI runtime exec failed: exec failed: exec: "/bin/sh": stat /bin/sh: no such file or directory: unknown',
    'unusable',
  ],
  ["docker: invalid reference format.\nSee 'docker run --help'.", 'engine_failed'],
])('says in one line what %j means', (stderr, code) => {
  const { message, ...failure } = engineFailure(125, stderr)
  expect(failure.code).toBe(`environment.${code}`)
  expect(message).toMatch(/^[A-Z][^\n]+\.$/)
})
