const two = (value: number) => String(value).padStart(2, '0')
const name = (now: Date, form: Intl.DateTimeFormatOptions) => now.toLocaleDateString('en-US', form)

const FIELDS: Readonly<Record<string, (now: Date) => string>> = {
  Y: (now) => String(now.getFullYear()),
  m: (now) => two(now.getMonth() + 1),
  d: (now) => two(now.getDate()),
  H: (now) => two(now.getHours()),
  I: (now) => two(now.getHours() % 12 || 12),
  M: (now) => two(now.getMinutes()),
  S: (now) => two(now.getSeconds()),
  p: (now) => (now.getHours() < 12 ? 'AM' : 'PM'),
  a: (now) => name(now, { weekday: 'short' }),
  b: (now) => name(now, { month: 'short' }),
  '%': () => '%',
}

/** A time in the zone of the machine, in the form of `strftime` as far as a line has room for it; other letters stay. */
export function formatTime(form: string, now: Date): string {
  return form.replace(/%([YmdHIMSpab%])/g, (_, field: string) => FIELDS[field]!(now))
}
