// Loaded into a process that runs the sources (`node --import`): writes to the file HERMES_HOPS the functions of the workspace that led from the
// entry of the program to its first request, the innermost first, as `name (file:line)`.
//
// V8 knows the calls across every `await`, but not across a promise that is handed on. There the chain goes on at the outermost
// function known so far, with the calls that led to it when it first made a promise.
import { createHook } from 'node:async_hooks'
import { existsSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { registerHooks, syncBuiltinESMExports } from 'node:module'
import { fileURLToPath } from 'node:url'

// `./x.js` is read from `./x.ts` where there is one.
registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith('.') && specifier.endsWith('.js')) {
      const source = new URL(`${specifier.slice(0, -3)}.ts`, context.parentURL)
      if (existsSync(fileURLToPath(source))) return next(source.href, context)
    }
    return next(specifier, context)
  },
})
// The bundler fills this in otherwise.
globalThis.__HERMES_VERSION__ = '0'
Error.stackTraceLimit = Infinity

/** Frames of the workspace's sources on a stack, the innermost first. */
function framesOf(stack) {
  return stack.split('\n').flatMap((line) => {
    const [, place, at] = line.match(/((?:packages|apps)\/[^/]+\/src\/[^:)]+):(\d+):\d+\)?$/) ?? []
    if (place === undefined) return []
    const name = line.match(/at (?:async )?(?:new )?([^ ]+) \(/)?.[1] ?? `line ${at}`
    return [{ name, place, text: `${name} (${place}:${at})` }]
  })
}

const key = ({ name, place }) => `${place} ${name}`
/** Where each function was called from when it first made a promise, itself included. */
const calledFrom = new Map()
const hook = createHook({
  init(_id, type) {
    if (type !== 'PROMISE') return
    const frames = framesOf(new Error().stack)
    for (const [index, frame] of frames.entries()) {
      const known = calledFrom.get(key(frame))
      if (known === undefined) calledFrom.set(key(frame), frames.slice(index))
    }
  },
}).enable()

function chain(frames) {
  const all = [...frames]
  const met = new Set()
  for (;;) {
    const outermost = all.at(-1)
    if (outermost === undefined || met.has(key(outermost))) return all
    met.add(key(outermost))
    all.push(...(calledFrom.get(key(outermost)) ?? []).slice(1))
  }
}

let isFirst = true
const { request } = http
http.request = function firstRequest(...args) {
  // Whether the server has a window to tell is asked as well; what counts is the question to the model.
  const paths = args.map((value) => value?.path ?? value?.pathname ?? String(value))
  if (isFirst && paths.some((path) => path.includes('/chat/completions'))) {
    isFirst = false
    hook.disable()
    writeFileSync(process.env.HERMES_HOPS, JSON.stringify(chain(framesOf(new Error().stack)).map(({ text }) => text)))
  }
  return request.apply(this, args)
}
syncBuiltinESMExports()
