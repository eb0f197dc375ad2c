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
  [
    'an error without a stack',
    "node:internal/process/promises:394\n      triggerUncaughtException(err, true);\n      ^\n\n[TeaError: the kettle is cold] {\n  code: 'COLD'\n}\n\nNode.js v24.1.0\n",
    "[TeaError: the kettle is cold] { code: 'COLD' } (Node.js v24.1.0)",
  ],
  [
    'an error over several lines',
    '/srv/tea.js:3\nZodError: [\n  {\n    "path": [\n      "TEA_TOKEN"\n    ],\n    "message": "Required"\n  }\n]\n    at parse (/srv/tea.js:3:1)\n\nNode.js v24.1.0\n',
    'ZodError: [ { "path": [ "TEA_TOKEN" ], "message": "Required" } ] (Node.js v24.1.0)',
  ],
  ['any other program', 'starting\nno configuration found\n', 'no configuration found'],
  ['one that says nothing', '\n', ''],
])('says why a program ended: %s', (_, output, line) => {
  expect(tellingLine(output)).toBe(line)
})
