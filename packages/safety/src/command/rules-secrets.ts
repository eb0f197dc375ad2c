import { resolveShellPath } from './context.js'
import { inlineCode } from './inline-code.js'
import { type Invocation, texts } from './invocation.js'
import { mayName, placesOf } from './may-name.js'
import { namesWholeEnvironment, printsEnvironment } from './prints-environment.js'
import { PROGRAMS } from './program-tables.js'
import { usesNetwork } from './reaching-code.js'
import { isSecretPath } from './reads-secrets.js'
import type { CommandRule } from './rule.js'
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

/** Words with a key in them, by the name of a variable. */
const KEY_VARIABLE = /\$\{?\w*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|CREDENTIALS?|PAT|DSN)\w*\}?/i
const OF_LOGIN = /^(?:-i|-o|-E|--cert|--key|--cacert|--config|-K|--netrc-file|--rcfile|--kubeconfig|--profile)$/

/** Keys that are read, printed, or leave this machine. */
export const SECRET_RULES: readonly CommandRule[] = Object.freeze([
  {
    rule: 'credential-print',
    reason: 'prints keys, tokens or passwords',
    matches: ({ name, args }: Invocation) => {
      const line = texts(args).join(' ')
      return PRINTS.some(([program, words]) => program.test(name) && words.test(line))
    },
  },
  {
    rule: 'credential-send',
    reason: 'sends keys, or files from outside the workspace, to another machine',
    matches: leaves,
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

/** Whether what a program sends is a key, or of the person beyond the workspace. */
function leaves(invocation: Invocation): boolean {
  const { name, args, input, via } = invocation
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
  return [...input.from, ...invocation.inner].some(
    (from) =>
      printsEnvironment(from) ||
      [...texts(from.args), ...from.redirects.map(({ target }) => target.text)].some((word) => isPrivate(word, from)),
  )
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
  const path = word.replace(/^(?:--?[\w-]+=@?|-[a-zA-Z]@?(?=[~/])|@|[\w.-]+=[@<])/, '')
  if (exposed.size > 0 && exposed.has(resolveShellPath(path, context))) return true
  if (path === '' || path.length > 400 || /^[a-z][\w+.-]*:\/\//i.test(path)) return false
  if (mayName(path, 'read', context, places) !== null || isSecretPath(path)) return true
  return outsideWorkspace([path], context).some((outside) => outside === '~' || outside.startsWith('~/'))
}
