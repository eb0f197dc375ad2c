// The routes of the API as data: what a key needs for them, and what they are told by.
import type { Scope } from './api-keys.js'

/** One route. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** `{id}` stands for a part. */
  readonly path: string
  /** What a key has to be good for; `any` key will do, or `none` is needed. */
  readonly scope: Scope | 'any' | 'none'
  readonly summary: string
  /** Names in the document of the API. Default: no body; an answer of any form. */
  readonly body?: string
  readonly answer?: string
  /** Of an answer that is not an error. Default 200. */
  readonly status?: number
  readonly query?: readonly string[]
}

const route = (
  method: Route['method'],
  path: string,
  scope: Route['scope'],
  summary: string,
  more: Partial<Route> = {},
): Route => ({
  ...{ method, path, scope, summary },
  ...more,
})

/** What the API answers, beside the routes of extensions and chat platforms. */
export const ROUTES: readonly Route[] = [
  route('POST', '/v1/chat/completions', 'chat', 'One run of the agent, whole or streamed.', {
    ...{ body: 'ChatRequest', answer: 'ChatCompletion' },
  }),
  route('POST', '/v1/responses', 'chat', 'The same in the Responses form.', {
    ...{ body: 'ResponseRequest', answer: 'Response' },
  }),
  route('GET', '/v1/responses/{id}', 'chat', 'A response that was given.', { answer: 'Response' }),
  route('GET', '/v1/models', 'any', 'The models that may be named.', { answer: 'Models' }),
  route('GET', '/v1/models/{id}', 'any', 'One of them.', { answer: 'Model' }),
  route('POST', '/v1/runs', 'runs', 'Begins a run that goes on whoever listens.', {
    ...{ body: 'RunRequest', answer: 'Run', status: 202 },
  }),
  route('GET', '/v1/runs', 'runs', 'Runs, newest first.', {
    ...{ answer: 'Runs', query: ['limit', 'session_id', 'status'] },
  }),
  route('GET', '/v1/runs/{id}', 'runs', 'How a run is doing.', { answer: 'Run' }),
  route('GET', '/v1/runs/{id}/events', 'runs', 'What happens in a run, after Last-Event-ID, as server-sent events.'),
  route('POST', '/v1/runs/{id}/approval', 'approvals', 'Answers what a run waits for.', {
    ...{ body: 'Action', answer: 'Run' },
  }),
  route('POST', '/v1/runs/{id}/{action}', 'runs', 'steer or stop.', { body: 'Action', answer: 'Run' }),
  route('GET', '/v1/approvals', 'approvals', 'What waits for an approval.', { answer: 'List' }),
  route('POST', '/v1/approvals/{id}', 'approvals', 'Answers one.', { body: 'Action', answer: 'Object' }),
  route('GET', '/v1/sessions', 'sessions', 'Sessions, newest activity first.', {
    ...{ answer: 'Sessions', query: ['limit', 'offset', 'source'] },
  }),
  route('GET', '/v1/sessions/search', 'sessions', 'Messages by their words.', {
    ...{ answer: 'List', query: ['q', 'limit', 'session_id'] },
  }),
  route('GET', '/v1/sessions/{id}', 'sessions', 'One session.', { answer: 'Session' }),
  route('PATCH', '/v1/sessions/{id}', 'sessions', 'Gives it a title.', { body: 'SessionChange', answer: 'Session' }),
  route('DELETE', '/v1/sessions/{id}', 'sessions', 'Removes it for good, with all that was said.', {
    answer: 'Deleted',
  }),
  route('GET', '/v1/sessions/{id}/messages', 'sessions', 'What was said.', {
    ...{ answer: 'List', query: ['after', 'limit'] },
  }),
  route('POST', '/v1/sessions/{id}/fork', 'sessions', 'A session that goes on from here, or from a message.', {
    ...{ body: 'Fork', answer: 'Session', status: 201 },
  }),
  route('GET', '/v1/sessions/{id}/children', 'sessions', 'Its delegated tasks.', { answer: 'List' }),
  route('POST', '/v1/sessions/{id}/{action}', 'sessions', 'steer or interrupt the run under way.', {
    ...{ body: 'Action', answer: 'Object' },
  }),
  route('POST', '/v1/sessions/{id}/children/{child}/{action}', 'sessions', 'kill, pause, resume or steer a task.', {
    ...{ body: 'Action', answer: 'Object' },
  }),
  route('GET', '/v1/toolsets', 'any', 'The toolsets of the agent.', { answer: 'List' }),
  route('GET', '/v1/skills', 'any', 'The skills of the agent.', { answer: 'Skills' }),
  route('GET', '/v1/capabilities', 'any', 'What this server can do.', { answer: 'Object' }),
  route('GET', '/health', 'none', 'That it is there.', { answer: 'Health' }),
  route('GET', '/v1/health', 'none', 'The same.', { answer: 'Health' }),
  route('GET', '/health/detailed', 'any', 'How its parts are doing.', { answer: 'Health' }),
  route('GET', '/metrics', 'metrics', 'Figures of the server, in the text form of Prometheus.'),
  route('GET', '/openapi.json', 'none', 'This document.', { answer: 'Object' }),
]

/** In one line. */
export const ROUTE_LIST = `${ROUTES.map(({ method, path }) => `${method} ${path.replace(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase())}`).join(', ')}, POST /mcp`

/** What a key has to be good for; the owner's routes are all that are not listed. */
export function scopeOf(path: string): Route['scope'] {
  if (/^\/v1\/(?:chat|responses)(?:\/|$)/.test(path)) return 'chat'
  const [, , first, , action] = path.split('/')
  // Who may run things need not be who lets them.
  if (first === 'runs' && action === 'approval') return 'approvals'
  if (first === 'runs' || first === 'approvals' || first === 'sessions') return first
  if (path === '/metrics') return 'metrics'
  return path === '/mcp' || path.startsWith('/extensions/') ? 'owner' : 'any'
}
