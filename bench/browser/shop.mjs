// A shop of ten pages, lists of 60 and of 2,000 items, and what a person wants there, step by step.
import { createServer } from 'node:http'

const TOPICS = ['Lamps', 'Chairs', 'Tables', 'Shelves', 'Rugs', 'Curtains', 'Pillows', 'Clocks', 'Mirrors', 'Vases']
const FOOTER = ['Imprint', 'Terms', 'Privacy', 'Shipping', 'Returns', 'Jobs', 'Press', 'Blog', 'Help', 'Contact']

const links = (names, path) => names.map((name) => `<a href="${path}${name.toLowerCase()}">${name}</a>`).join(' ')

const page = (title, body) =>
  `<!doctype html><html lang=en><title>${title}</title><style>li,label,p{display:block;margin:8px}</style>
<header><a href="/">Shop</a> <nav>${links(TOPICS, '/c/')}</nav> <input type=search aria-label=Search> <a href="/cart">Cart</a></header>
<main><h1>${title}</h1>${body}</main><footer>${links(FOOTER, '/about/')}</footer></html>`

const items = (topic, from, count) =>
  `<ul>${Array.from({ length: count }, (_, at) => {
    const number = from + at
    return `<li><a href="/item/${number}">${topic} ${number}</a> <span>${number}.90 EUR, in stock</span> <button onclick="this.textContent='In the cart'">Add ${number}</button></li>`
  }).join('')}</ul>`

const form = (action, fields, button) => `<form action="${action}">${fields}<button>${button}</button></form>`
const field = (name) => `<label>${name} <input name="${name}"></label>`

const PAGES = {
  '/': page('Welcome', `<p>Good things for good rooms.</p>${items('Offer', 1, 12)}`),
  '/c/lamps': page('Lamps', `${items('Lamp', 1, 60)}<a href="/c/lamps/2">Next page</a>`),
  '/c/lamps/2': page('Lamps, page 2', `${items('Lamp', 61, 60)}<a href="/c/lamps">Previous page</a>`),
  '/item/75': page(
    'Lamp 75',
    `<p>75.90 EUR. ${'A lamp that gives light where it is dark. '.repeat(20)}</p><label>Colour <select><option>black<option>white</select></label>
<a href="/cart">Buy Lamp 75</a><h2>Others bought</h2>${items('Lamp', 80, 12)}`,
  ),
  '/cart': page('Your cart', '<p>Lamp 75, 75.90 EUR</p><a href="/address">To the address</a>'),
  '/address': page(
    'Address',
    form('/delivery', ['Name', 'Street', 'City', 'Country'].map(field).join(''), 'To the delivery'),
  ),
  '/delivery': page(
    'Delivery',
    form(
      '/payment',
      '<label><input type=radio name=d checked>Post, 4.90 EUR</label><label><input type=radio name=d>Courier, 9.90 EUR</label>',
      'To the payment',
    ),
  ),
  '/payment': page('Payment', form('/review', field('Voucher'), 'To the review')),
  '/review': page('Review', `<p>Lamp 75 to Ann, 80.80 EUR by post</p>${form('/thanks', '', 'Order now')}`),
  '/thanks': page('Thank you', '<p>Your order has the number 4711.</p>'),
  '/list/60': page('Sixty', items('Thing', 1, 60)),
  '/list/2000': page('Two thousand', items('Thing', 1, 2_000)),
}

/** What a model does for "order Lamp 75 to Ann": what it acts on is named by role and name. */
const TASK = [
  { click: ['link', 'Lamps'] },
  { click: ['link', 'Next page'] },
  { click: ['link', 'Lamp 75'] },
  { click: ['link', 'Buy Lamp 75'] },
  { click: ['link', 'To the address'] },
  { type: ['textbox', 'Name'], text: 'Ann Example' },
  { type: ['textbox', 'Street'], text: '1 Harbour Street' },
  { type: ['textbox', 'City'], text: 'Hamburg' },
  { type: ['textbox', 'Country'], text: 'Germany' },
  { click: ['button', 'To the delivery'] },
  { click: ['button', 'To the payment'] },
  { click: ['button', 'To the review'] },
  { click: ['button', 'Order now'] },
]
export const DONE = 'Your order has the number 4711.'

/** Serves it on 127.0.0.2, which counts as the public web here. */
export async function startShop() {
  const server = createServer((request, response) => {
    const found = PAGES[request.url.split('?')[0]]
    response.writeHead(found ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' }).end(found ?? 'nothing')
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.2', resolve))
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { port: server.address().port, close }
}

/**
 * Does the task by what a contestant has: `look` gives a text with the element in it, `act` does something with a reference. Resolves with
 * how many tokens went to the model and came from it, as `estimateTokens` counts: characters by four.
 */
export async function doTask({ open, find, act, look }) {
  let chars = 0
  const counting = async (calling) => {
    const { sent, text } = await calling
    chars += JSON.stringify(sent).length + text.length
    return text
  }
  let text = await counting(open())
  for (const { click, type, text: words } of TASK) {
    const [role, name] = click ?? type
    let ref = find(text, role, name)
    if (!ref) ref = find((text = await counting(look(name))), role, name)
    if (!ref) throw new Error(`There is no ${role} ${name} in: ${text.slice(0, 500)}`)
    const after = await counting(act(click ? { type: 'click', ref } : { type: 'type', ref, text: words }))
    // References stay what they were where a page only took a text.
    text = click ? after : `${text}\n${after}`
  }
  if (!text.includes(DONE)) text = await counting(look(DONE))
  if (!text.includes(DONE)) throw new Error(`The order was not made: ${text.slice(0, 500)}`)
  return chars / 4
}
