import { expect, it } from 'vitest'
import { tellingLine } from './telling-line.js'

it.each([
  [
    'npx without network',
    'npm error code ENOTFOUND\nnpm error syscall getaddrinfo\nnpm error errno ENOTFOUND\nnpm error network request to https://registry.example/tea failed, reason: getaddrinfo ENOTFOUND registry.example\nnpm error network This is a problem related to network connectivity.\nnpm error A complete log of this run can be found in: /home/ada/.npm/_logs/debug-0.log\n',
    'npm error network request to https://registry.example/tea failed, reason: getaddrinfo ENOTFOUND registry.example',
  ],
  [
    'a server for another Node',
    "file:///srv/tea.js:1\nimport { glob } from 'node:fs/promises'\n         ^^^^\nSyntaxError: The requested module 'node:fs/promises' does not provide an export named 'glob'\n    at ModuleJob._instantiate (node:internal/modules/esm/module_job:180:21)\n\nNode.js v20.19.2\n",
    "SyntaxError: The requested module 'node:fs/promises' does not provide an export named 'glob' (Node.js v20.19.2)",
  ],
  ['any other program', 'starting\nno configuration found\n', 'no configuration found'],
  ['one that says nothing', '\n', ''],
])('says why a program ended: %s', (_, output, line) => {
  expect(tellingLine(output)).toBe(line)
})
