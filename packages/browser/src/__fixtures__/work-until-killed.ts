// node work-until-killed.ts FOLDER ADDRESS TASKS: works on pages and says so, until it is killed or done.
import { openScene } from './scene.js'

const [, , folder = '', address = '', tasks = '0'] = process.argv
const scene = await openScene(folder)
for (let task = 0; task < Number(tasks); task++) {
  const session = `s${task % 3}`
  const text = await scene.call('browser_navigate', { url: address }, session)
  const ref = /\[(e\d+)\] textbox/.exec(text)?.[1]
  await scene.call('browser_type', { ref, text: `task ${task}` }, session)
  process.stdout.write(`task ${task}\n`)
}
await scene[Symbol.asyncDispose]()
