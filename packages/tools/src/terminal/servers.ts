/** Command lines that serve or watch until they are stopped. */
const ENDLESS: readonly RegExp[] = Object.freeze([
  /^(?:npm|pnpm|yarn|bun|deno task)(?: run)? (?:dev|start|serve|watch|develop|preview|storybook)(?::\S+)?(?: |$)/,
  /^(?:next|nuxt|astro|remix|gatsby|wrangler|netlify|vercel|svelte-kit|expo) (?:dev|develop|start|serve|preview)(?: |$)/,
  /^vite(?: (?:dev|serve|preview|-\S+).*)?$/,
  /^(?:webpack(?: serve|-dev-server)|ng serve|vue-cli-service serve|parcel serve|nodemon|live-server|http-server|serve|browser-sync start)(?: |$)/,
  /^python[\d.]* (?:-\w+ )*-m (?:http\.server|uvicorn|gunicorn|flask run|streamlit run)(?: |$)/,
  /^python[\d.]* \S*manage\.py runserver(?: |$)/,
  /^(?:flask(?: --\S+(?: \S+)?)* run|uvicorn|gunicorn|hypercorn|daphne|fastapi (?:dev|run)|streamlit run|jupyter[ -](?:notebook|lab)(?! (?:list|stop|build|clean|workspaces)))(?: |$)/,
  /^(?:(?:bin\/)?rails (?:s|server)|puma|rackup|jekyll serve|bundle exec (?:rails s|puma|jekyll serve).*|hugo serve[r]?|mkdocs serve|php -S|php artisan serve|mix phx\.server|cargo watch|dotnet watch)(?: |$)/,
  /^(?:redis-server|mongod|ollama serve|caddy run|minio server|ngrok)(?: |$)/,
  /^(?:docker[ -]compose|podman-compose)(?: -\S+(?: \S+)?)* up(?!.* (?:-d|--detach|--wait)(?: |$))/,
  /^(?:tail|journalctl|docker logs|docker compose logs|kubectl logs)(?: .*)? (?:-\w*[fF]\w*|--follow)(?: |$)/,
  /^(?:kubectl port-forward|watch)(?: |$)/,
  /^ping(?!6? .*-\w*[cwW])(?: |$)/,
  /^(?:tsc|rollup|webpack|sass|tailwindcss)(?: .*)? -w(?: |$)/,
  /^(?:tsc|tsup|esbuild|rollup|webpack|jest|vitest|sass|tailwindcss)(?: .*)? --watch(?: |$)/,
])

const ENDS = / (?:--help|-h|--version|--daemonize|--once|--check-config|--dry-run|--list-tests|--listTests)(?: |$)/
const PREFIX =
  /^(?:[A-Za-z_]\w*=\S*|sudo|env|exec|time|nice|npx|bunx|uvx|uv run|poetry run|pipenv run|pnpm exec|yarn dlx)(?: -\S+)* /
const QUOTED = /'[^']*'|"(?:\\.|[^"\\])*"/g

/**
 * The part of a command that would hold the call up until its time limit, because it serves or watches until it is stopped; `null` when
 * there is none. A guess from the text: what feeds a pipe ends with it, and what runs beside others does not hold them up.
 */
export function endlessPart(command: string): string | null {
  const parts = command
    .replace(QUOTED, (text) => (/\s/.test(text) ? '""' : text))
    .split(/(\|\||&&|[;\n|()]|(?<![<>])&(?!>))/)
  for (let at = 0; at < parts.length; at += 2) {
    const next = parts[at + 1]
    if (parts[at] === '' || next === '|' || next === '&') continue
    let part = parts[at]!.replace(/\s+/g, ' ').trim()
    while (PREFIX.test(part)) part = part.replace(PREFIX, '')
    if (!ENDS.test(part) && ENDLESS.some((form) => form.test(part))) return part
  }
  return null
}
