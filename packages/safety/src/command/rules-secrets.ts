import { resolveShellPath } from './context.js'
import { inlineCode } from './inline-code.js'
import { hasOption, type Invocation, readOptions, texts } from './invocation.js'
import { mayName, placesOf } from './may-name.js'
import { namesWholeEnvironment, printsEnvironment } from './prints-environment.js'
import { PROGRAMS } from './program-tables.js'
import { usesNetwork } from './reaching-code.js'
import { isSecretPath } from './reads-secrets.js'
import type { CommandRule } from './rule.js'
import { gitCommand } from './rules-git.js'
import { isLoopback, sendsData } from './sends-data.js'
import { outsideWorkspace, writeTargets } from './write-targets.js'

/** Subcommands that print keys, tokens or passwords, by their program. */
const PRINTS: readonly (readonly [programs: RegExp, words: RegExp])[] = Object.freeze([
  [/^gh$|^glab$/, /^auth (?:token|status.* (?:-t|--show-token))\b|^config get .*token/],
  [/^gcloud$/, /^auth .*print-(?:access|identity)-token|^secrets versions access/],
  [
    /^aws$/,
    /^configure (?:get .*(?:secret|token|key)|export-credentials)|^sts (?:get-session-token|assume-role)|^ecr.* get-login|^secretsmanager get-secret|^ssm get-parameter.*--with-decryption/,
  ],
  [/^az$/, /^account get-access-token|^keyvault secret (?:show|download)|keys list/],
  [/^git$/, /^credential(?:-\w+)? (?:fill|get)/],
  [/^git-credential/, /./],
  [/^docker-credential/, /./],
  [/^secret-tool$/, /^(?:lookup|search)/],
  [/^security$/, /^(?:find-(?:generic|internet)-password|dump-keychain|export|find-key)/],
  [/^gpg2?$/, /--export-secret-(?:sub)?keys|--export-secret-ssh-key/],
  [/^pass$|^gopass$/, /^(?!(?:ls|list|find|insert|generate|git|version|help)\b)./],
  [/^op$/, /^(?:read|item get|document get|signin|inject|run)\b/],
  [/^bw$/, /^(?:get|unlock|export|list items)\b/],
  [/^rbw$|^lpass$|^keepassxc-cli$|^dcli$/, /^(?:get|show|export|clip|password|attachment-export)\b/],
  [/^vault$/, /^(?:read|kv get|token|print token|login)\b/],
  [
    /^kubectl$|^oc$/,
    /\bget secrets?\b.* (?:-o|--output)|^config view.*--raw|^create token|^whoami (?:-t|--show-token)/,
  ],
  [/^heroku$/, /^auth:token|^config(?::get)?\b/],
  [/^(?:fly|flyctl)$/, /^(?:auth|tokens) (?:token|create)/],
  [/^(?:doppler|infisical|chamber)$/, /^(?:secrets|export|read|run)\b/],
  [/^sops$/, /(?:^|\s)(?:-d|--decrypt|decrypt|exec-\w+)\b/],
  [/^keyring$|^kwallet-query$/, /^get\b|(?:^|\s)-r\b/],
  [/^(?:npm|yarn|pnpm)$/, /^(?:config|c) (?:get|ls|list) .*(?:auth|token|password|-l\b)|^token (?:create|list)/],
  [/^wg$/, /^show(?:conf)?\b.*(?:private-key|dump|conf)/],
  [/^nmcli$/, /(?:^|\s)(?:-s|--show-secrets)\b/],
  [/^ssh-keygen$/, /(?:^|\s)-[yp]\b/],
])

/** Subcommands that take away or replace keys, logins and what else a program keeps for a person, by their program. */
const FORGETS: readonly (readonly [programs: RegExp, words: RegExp])[] = Object.freeze([
  [/^ssh-add$/, /^(?:.* )?-[a-zA-Z]*[Dd]\b/],
  [/^ssh-agent$/, /^(?:.* )?-k\b/],
  [/^secret-tool$/, /^(?:clear|store)\b/],
  [/^keyring$/, /^(?:del|set)\b/],
  [/^kwallet-query$/, /^(?:.* )?(?:-w|--write-password)\b/],
  [/^security$/, /^(?:delete|add|set|import|lock)-/],
  [/^gpg2?$/, /(?:^| )--(?:delete-\S+|quick-revoke\S*|clear\S*)/],
  [/^gpg-connect-agent$/, /delete_key|clear_passphrase|preset/i],
  [/^(?:pass|gopass)$/, /^(?:rm|remove|delete|mv|move|edit)\b/],
  [/^(?:bw|op|rbw|lpass|keepassxc-cli|dcli)$/, /^(?:\w+ )?(?:delete|rm|rmdir|remove|purge|edit|logout|forget)\b/],
  [/^(?:kdestroy|vncpasswd)$/, /^/],
  [
    /^(?:docker|podman|nerdctl)$/,
    /^(?:context (?:rm|remove|update|import|use (?!default(?: |$)))|logout|system connection (?:rm|remove))\b/,
  ],
  [/^(?:kubectl|oc)$/, /^(?:config (?:delete|unset|set|use-context|rename-context)\b|logout\b)/],
  [/^aws$/, /^(?:configure (?:set|import)|sso logout)\b/],
  [/^(?:az|gcloud)$/, /^(?:logout|account clear|auth revoke|auth application-default revoke)\b/],
  [/^git$/, /^credential(?:-\w+)? (?:reject|erase|exit)\b/],
  [/^git-credential/, /^(?:erase|exit)\b/],
  [/^rclone$/, /^config (?:delete|disconnect)\b/],
  [/^helm$/, /^(?:registry logout|repo (?:rm|remove))\b/],
  [
    /^(?:gh|glab|npm|pnpm|yarn|heroku|fly|flyctl|doctl|cargo|terraform|vercel|netlify|wrangler|firebase|huggingface-cli|hf|snap|supabase|railway)$/,
    /^(?:(?:auth |login )?(?:logout|signout)|auth remove)\b/,
  ],
  [/^(?:conda|mamba|micromamba)$/, /^(?:env remove|remove .*--all)\b/],
  [/^rustup$/, /^(?:self uninstall|toolchain (?:uninstall|remove))\b/],
  [/^pyenv$/, /^uninstall\b/],
  [/^pipx$/, /^uninstall-all\b/],
  [/^(?:minikube|kind|multipass|limactl|colima)$/, /^delete\b/],
  [/^vagrant$/, /^destroy\b/],
  [/^virsh$/, /^(?:destroy|undefine|vol-delete|pool-delete)\b/],
  [/^ollama$/, /^rm\b/],
  [/^(?:huggingface-cli|hf)$/, /^(?:delete-cache|cache (?:rm|delete))\b/],
  [/^bluetoothctl$/, /^remove\b/],
  [/^nmcli$/, /^c(?:on(?:nection)?)? (?:d|del|delete|modify|mod)\b/],
])

/** Ways to give orders to programs of the person that run, by program. */
const ORDERS: readonly (readonly [programs: RegExp, words: RegExp])[] = Object.freeze([
  [/^emacsclient$/, /(?:^| )(?:-\w*e|--eval)\b/],
  [/^(?:n?vim|gvim)$/, /(?:^| )--(?:server|servername|remote\S*)\b/],
  [/^(?:gdbus)$/, /^(?:call|emit)\b(?!.*(?:Properties\.Get|Introspect|Notifications))/],
  [/^busctl$/, /^(?!.*(?:Introspect|Notifications)).*\b(?:call|emit|set-property)\b/],
  [/^dbus-send$/, /^(?!.*(?:Properties\.Get|Introspect|Notifications))./],
  [/^qdbus\d*(?:-qt\d)?$/, /^\S+ \S+ \S+/],
])

/** Words with a key in them, by the name of a variable. */
const KEY_VARIABLE = /\$\{?\w*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|CREDENTIALS?|PAT|DSN)\w*\}?/i
const OF_LOGIN = /^(?:-i|-o|-E|--cert|--key|--cacert|--config|-K|--netrc-file|--rcfile|--kubeconfig|--profile)$/

/** Keys that are read, printed, or leave this machine. */
export const SECRET_RULES: readonly CommandRule[] = Object.freeze([
  {
    rule: 'credential-print',
    reason: 'prints keys, tokens or passwords',
    matches: (invocation: Invocation) => isOf(PRINTS, invocation),
  },
  {
    rule: 'credential-loss',
    reason: 'takes away or replaces keys, logins or what else is kept for the person',
    matches: (invocation: Invocation) => invocation.context.isolated !== true && isOf(FORGETS, invocation),
  },
  {
    rule: 'orders-program',
    reason: 'gives orders to programs of the person that run',
    matches: (invocation: Invocation) => invocation.context.isolated !== true && isOf(ORDERS, invocation),
  },
  {
    rule: 'credential-send',
    reason: 'sends keys, or files from outside the workspace, to another machine',
    matches: leaves,
  },
  {
    rule: 'git-internals',
    reason: 'puts files from outside the workspace into the repository',
    programs: ['git'],
    matches: ({ args, context, redirects }: Invocation) => {
      const { verb, rest } = gitCommand(args)
      const options = readOptions(rest, ['-t', '--path'])
      if (verb !== 'hash-object' || !hasOption(options, 'w')) return false
      const read = redirects.filter(({ operator }) => operator === '<').map(({ target }) => target.text)
      return outsideWorkspace([...options.operands, ...read], context).length > 0
    },
  },
  {
    rule: 'remote-shell',
    reason: 'lets another machine in',
    programs: PROGRAMS.doorOpeners,
    matches: ({ name, args }: Invocation) => {
      const words = texts(args)
      if (/^n(?:c|cat|etcat)$/.test(name))
        return words.some((word) => /^(?:-[a-zA-Z]*[ec]|--(?:sh-|lua-)?exec(?:=.*)?)$/.test(word))
      if (name === 'socat') return words.some((word) => /\b(?:EXEC|SYSTEM|SHELL|PTY)\b/i.test(word))
      if (/^ssh-(?:copy|import)-id(?:-gh|-lp)?$/.test(name)) return words.some((word) => !word.startsWith('-'))
      if (/ssh$/.test(name)) return words.some((word) => /^-[a-zA-Z]*R/.test(word) && !/^-[oipFl]/.test(word))
      if (name === 'tailscale') return /^(?:funnel|serve|up|ssh)$/.test(words[0] ?? '')
      return words.length > 0 && !words.some((word) => /^(?:--version|version|--help|help|-h|login|list)$/.test(word))
    },
  },
  {
    rule: 'remote-shell',
    reason: 'connects a program to another machine',
    matches: (invocation: Invocation) =>
      [...invocation.redirects.map(({ target }) => target.text), ...writeTargets(invocation)].some((path) => {
        const host = /^\/dev\/(?:tcp|udp)\/([^/]*)/.exec(path)?.[1]
        return host !== undefined && !isLoopback(host)
      }),
  },
])

/** Whether a program is told what the table knows of it. */
function isOf(table: typeof PRINTS, { name, args }: Invocation): boolean {
  const line = texts(args).join(' ')
  return table.some(([program, words]) => program.test(name) && words.test(line))
}

/** Whether what a program sends is a key, or of the person beyond the workspace. */
function leaves(invocation: Invocation): boolean {
  const { name, args, input, via, redirects, carriesPrivate } = invocation
  if (inlineCode(invocation).some((code) => namesWholeEnvironment(code) && usesNetwork(code))) return true
  const isSender = sendsData(invocation) || PROGRAMS.fetchers.includes(name) || ['gh', 'glab', 'rclone'].includes(name)
  if (!isSender) return false
  const isSsh = /^(?:ssh|scp|sftp|mosh|rsync)$/.test(name)
  const words = texts(args).filter((_, at) => {
    const before = args[at - 1]?.text ?? ''
    return !OF_LOGIN.test(before) && !(isSsh && before === '-F')
  })
  const sent = sentWords(name, words)
  if (!words.some((word) => isLoopback(word)) && sent.some((word) => KEY_VARIABLE.test(word))) return true
  const isTunnel = /^(?:ssh|mosh|sftp)$/.test(name)
  const own = isTunnel ? [] : words
  const places = placesOf(invocation.context)
  if ([...new Set(own)].some((word) => isPrivate(word, invocation, places))) return true
  if (via === 'find' && sendsData(invocation)) return true
  const isHeld = args.some(({ dynamic }) => dynamic) || redirects.some(({ target }) => target.dynamic)
  const isOpened = redirects.some(({ operator }) => operator === '<&')
  const read = redirects.filter(({ operator }) => operator === '<').map(({ target }) => target.text)
  if (read.some((path) => isPrivate(path, invocation, places))) return true
  return (
    [...input.from, ...invocation.inner].some((from) => printsEnvironment(from) || takesPrivate(from)) ||
    ((isHeld || isOpened) && carriesPrivate)
  )
}

/** Whether a program is given files of the person. */
export function takesPrivate(invocation: Invocation): boolean {
  const words = [...texts(invocation.args), ...invocation.redirects.map(({ target }) => target.text)]
  return words.some((word) => isPrivate(word, invocation))
}

/** The words whose values leave: addresses and bodies, not headers, which is where a key belongs. */
function sentWords(name: string, words: readonly string[]): readonly string[] {
  if (!/^(?:curl|wget|http|https|xh|nc|ncat|dig|nslookup|host|ping|getent)$/.test(name)) return []
  return words.filter((word, at) => {
    const before = words[at - 1] ?? ''
    return (
      !/^(?:-H|--header|-u|--user|-A|--oauth2-bearer|--proxy-user|-b)$/.test(before) &&
      !/^(?:--(?:header|user|oauth2-bearer)=|-H|[Aa]uthorization:)/.test(word)
    )
  })
}

function isPrivate(word: string, { context, exposed }: Invocation, places = placesOf(context)): boolean {
  const path = word.replace(/^(?:(?:FILE|G?OPEN|READ):|--?[\w-]+=@?|-[a-zA-Z]@?(?=[~/])|@|[\w.-]+=[@<])/, '')
  if (exposed.size > 0 && exposed.has(resolveShellPath(path, context))) return true
  if (path === '' || path.length > 400 || /^[a-z][\w+.-]*:\/\//i.test(path)) return false
  if (mayName(path, 'read', context, places) !== null || isSecretPath(path)) return true
  return outsideWorkspace([path], context).some((outside) => outside === '~' || outside.startsWith('~/'))
}
