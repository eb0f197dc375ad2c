import { describe, expect, it } from 'vitest'
import { type CheckPathOptions, checkPath, type PathOperation } from './check-path.js'

const homes = { home: '/home/ada/.hermes', userHome: '/home/ada', workspace: ['/home/ada/project'] }
const verdict = (path: string, operation: PathOperation, more: Omit<CheckPathOptions, 'operation'> = homes): string => {
  const check = checkPath(path, { ...more, operation })
  return check.ok ? 'ok' : `${check.severity} ${check.rule}`
}

describe('checkPath', () => {
  it.each([
    ['/home/ada/.ssh', 'deny credential-write'],
    ['/home/ada/.ssh/authorized_keys', 'deny credential-write'],
    ['/home/ada/.ssh/config', 'ask ssh-config'],
    ['/home/ada/.SSH/id_rsa', 'deny credential-write'],
    ['/home/ada/project/../.ssh/x', 'deny credential-write'],
    ['/home//ada/./.aws/credentials', 'deny credential-write'],
    ['//home/ada/.kube/config', 'deny credential-write'],
    ['/home/ada/.gnupg/x', 'deny credential-write'],
    ['/home/ada/.netrc', 'deny credential-write'],
    ['/home/ada/.sshx', 'ok'],
    ['/etc/sudoers', 'deny sudoers'],
    ['/etc/sudoers.d/x', 'deny sudoers'],
    ['/private/etc/sudoers', 'deny sudoers'],
    ['/etc/hosts', 'ask system-file'],
    ['/usr/bin/ls', 'ask system-file'],
    ['/usr/local/bin/x', 'ok'],
    ['/dev/sda', 'deny device'],
    ['/proc/self/mem', 'deny device'],
    ['/home/ada/.zshrc', 'ask shell-startup'],
    ['/home/ada/project/.zshrc', 'ok'],
    ['/home/ada/.hermes/auth.json', 'deny hermes-secrets'],
    ['/home/ada/.hermes/auth.json.broken-2026-11-21-090000', 'deny hermes-secrets'],
    ['/home/ada/.hermes/auth.json.locks/0123', 'deny hermes-secrets'],
    ['/home/ada/.hermes/auth.jsonl', 'ok'],
    ['/home/ada/.hermes/.env', 'deny hermes-secrets'],
    ['/home/ada/.hermes/.anthropic_oauth.json', 'deny hermes-secrets'],
    ['/home/ada/.hermes/mcp-tokens/x.json', 'deny hermes-secrets'],
    ['/home/ada/.hermes/pairing/x.json', 'deny hermes-secrets'],
    ['/home/ada/.hermes/profiles/work/auth.json', 'deny hermes-secrets'],
    ['/home/ada/.hermes/permissions.yaml', 'deny hermes-permissions'],
    ['/home/ada/.hermes/backups/config/config.yaml.read', 'deny hermes-permissions'],
    ['/home/ada/.hermes/profiles/work/backups/config/config.yaml.good.000001', 'deny hermes-permissions'],
    ['/home/ada/.hermes/backups', 'ask hermes-config'],
    ['/home/ada/.hermes/cache', 'ask hermes-config'],
    ['/home/ada/.hermes/cache/code/v24/hermes-chat-start.bin', 'deny hermes-permissions'],
    ['/home/ada/.hermes/skills/.hub/lock.json', 'deny hermes-permissions'],
    ['/home/ada/.hermes/skills/.hub', 'deny hermes-permissions'],
    ['/home/ada/.hermes/profiles/work/skills/.hub/skills/x@0123/SKILL.md', 'deny hermes-permissions'],
    ['/home/ada/.hermes/pending/skills/abcdef.json', 'deny hermes-permissions'],
    ['/home/ada/.hermes/pending/memory/abcdef.json', 'deny hermes-permissions'],
    ['/home/ada/.hermes/state.db-wal', 'deny hermes-store'],
    ['/home/ada/.hermes/config.yaml', 'ask hermes-config'],
    ['/home/ada/.hermes/honcho.json', 'deny hermes-secrets'],
    ['/home/ada/.hermes/engine.mjs', 'ask hermes-config'],
    ['/home/ada/.hermes/extensions', 'ask hermes-config'],
    ['/home/ada/.hermes/extensions/mine', 'ask hermes-config'],
    ['/home/ada/.hermes/engines/mine/index.js', 'ask hermes-config'],
    ['/home/ada/.hermes/node_modules/engine/package.json', 'ask hermes-config'],
    ['/home/ada/.hermes/sandboxes/docker/default/workspace/a.js', 'ok'],
    ['/home/ada/.hermes/SOUL.md', 'ok'],
    ['/home/ada/.hermes/memories/MEMORY.md', 'ok'],
    ['/home/ada/project/.env', 'ask env-file'],
    ['/home/ada/project/.env.local', 'ask env-file'],
    ['/home/ada/other/.env', 'deny env-file'],
    ['/home/ada/.hermes/memories/.unconfirmed.json', 'deny hermes-memory'],
    ['/home/ada/.hermes/memories/users/bob/.unconfirmed.json', 'deny hermes-memory'],
    ['/home/ada/project/.envrc', 'deny env-file'],
    ['/home/ada/project/.env.example', 'ok'],
    ['/home/ada/project/.env.sample', 'ok'],
    ['/home/ada/project/.env.template', 'ok'],
    ['/home/ada/project/.environment', 'ok'],
    ['/home/ada/project/env.ts', 'ok'],
    ['/home/ada/project/.git/hooks/pre-commit', 'ask git-internals'],
    ['/home/ada/project/.git/modules/lib/hooks/post-checkout', 'ask git-internals'],
    ['/home/ada/project/.git/modules/lib/config', 'ask git-internals'],
    ['/home/ada/project/.git/worktrees/a/config.worktree', 'ask git-internals'],
    ['/home/ada/project/.git/config.worktree', 'ask git-internals'],
    ['/home/ada/project/.git/hooks', 'ask git-internals'],
    ['/home/ada/project/lib/.git', 'ask git-internals'],
    ['/home/ada/project/.git/refs/heads/config', 'ok'],
    ['/home/ada/project/.git/index', 'ok'],
    ['/home/ada/project/.github/hooks/a', 'ok'],
    ['/home/ada/project/src/a.ts', 'ok'],
    ['relative', 'deny bad-path'],
    ['/a\0b', 'deny bad-path'],
  ])('writing %s: %s', (path, expected) => {
    expect(verdict(path, 'write')).toBe(expected)
  })

  it.each([
    ['/home/ada/.hermes/auth.json', 'deny hermes-secrets'],
    ['/home/ada/.hermes/mem0.json', 'deny hermes-secrets'],
    ['/home/ada/.hermes/config.yaml', 'ok'],
    ['/home/ada/.ssh/id_ed25519', 'deny credential-read'],
    ['/home/ada/.ssh/work.pem', 'deny credential-read'],
    ['/home/ada/.ssh/id_ed25519.pub', 'ok'],
    ['/home/ada/.ssh/config', 'ok'],
    ['/home/ada/.aws/credentials', 'deny credential-read'],
    ['/home/ada/.aws/config', 'ok'],
    ['/home/ada/.netrc', 'deny credential-read'],
    ['/etc/shadow', 'deny credential-read'],
    ['/etc/hosts', 'ok'],
    ['/dev/random', 'deny device'],
    ['/proc/1/environ', 'deny process-memory'],
    ['/proc/self/task/1/environ', 'deny process-memory'],
    ['/proc/self/root/home/ada/.netrc', 'deny process-memory'],
    ['/proc/cpuinfo', 'ok'],
    ['/tmp/hermes-rescue-s.jsonl', 'ask rescue-file'],
    ['/tmp/hermes-rescue-s.jsonl.0a1b.taking', 'ask rescue-file'],
    ['/home/ada/.hermes/rescue/hermes-rescue-s.jsonl', 'ask rescue-file'],
    ['/home/ada/project/.env', 'ok'],
  ])('reading %s: %s', (path, expected) => {
    expect(verdict(path, 'read')).toBe(expected)
  })

  it('protects another Hermes home, and the usual one beside it', () => {
    const other = { home: '/srv/hermes/', userHome: '/home/ada' }
    expect(verdict('/srv/hermes/auth.json', 'read', other)).toBe('deny hermes-secrets')
    expect(verdict('/home/ada/.hermes/auth.json', 'read', other)).toBe('deny hermes-secrets')
    expect(verdict('/srv/hermesx/auth.json', 'read', other)).toBe('ok')
  })

  it('refuses to remove or rename a folder that a home is in', () => {
    expect(verdict('/home', 'remove')).toBe('deny home-folder')
    expect(verdict('/home/ada/', 'rename')).toBe('deny home-folder')
    expect(verdict('/home/ada/.hermes', 'remove')).toBe('deny home-folder')
    expect(verdict('/home/ada/project', 'remove')).toBe('ok')
    expect(verdict('/home/ada', 'mkdir')).toBe('ok')
  })

  it.each([
    ['/home/ada/.hermes', '/home/ada/.hermes/skills/a/SKILL.md', 'ok'],
    ['/home/ada/.hermes', '/home/ada/.hermes/profiles/work/skills/a/SKILL.md', 'ask other-profile'],
    ['/home/ada/.hermes/profiles/work', '/home/ada/.hermes/profiles/work/memories/MEMORY.md', 'ok'],
    ['/home/ada/.hermes/profiles/work', '/home/ada/.hermes/memories/MEMORY.md', 'ask other-profile'],
    ['/home/ada/.hermes/profiles/work', '/home/ada/.hermes/profiles/play/SOUL.md', 'ask other-profile'],
    ['/home/ada/.hermes/profiles/work', '/home/ada/.hermes/profiles/play/notes.md', 'ask other-profile'],
    ['/srv/hermes/profiles/work', '/srv/hermes/profiles/play/skills/a/x.py', 'ask other-profile'],
    ['/srv/hermes/profiles/work', '/srv/hermes/profiles/play/auth.json', 'deny hermes-secrets'],
  ])('with the home %s, writing %s is %s', (home, path, expected) => {
    expect(verdict(path, 'write', { ...homes, home })).toBe(expected)
    expect(verdict(path, 'read', { ...homes, home })).toBe(expected)
  })
})
