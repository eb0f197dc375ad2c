import { readFile } from 'node:fs/promises'
import { release, type, userInfo } from 'node:os'

/** The operating system in words, for example `Linux 6.1 (Debian GNU/Linux 12)`; starts no process. */
export async function describeSystem(): Promise<string> {
  const kernel = `${type()} ${release().split('.').slice(0, 2).join('.')}`
  const name = process.platform === 'darwin' ? await macName() : await linuxName()
  const system = name ? `${kernel} (${name})` : kernel
  // What runs below Windows reaches its drives, and programs of it, at other places than a plain Linux.
  return /microsoft/i.test(release()) ? `${system} on WSL, Windows drives below /mnt` : system
}

async function linuxName(): Promise<string | undefined> {
  const text = await readFile('/etc/os-release', 'utf8').catch(() => '')
  return /^PRETTY_NAME="?([^"\n]+)"?$/m.exec(text)?.[1]
}

async function macName(): Promise<string | undefined> {
  const text = await readFile('/System/Library/CoreServices/SystemVersion.plist', 'utf8').catch(() => '')
  const version = /<key>ProductVersion<\/key>\s*<string>([^<]+)</.exec(text)?.[1]
  return version && `macOS ${version}`
}

/** The name of the user this program runs as; the number where there is no name. */
export function currentUser(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}
