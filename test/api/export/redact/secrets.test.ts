import { expect, test } from 'vitest'
import { findSecrets } from '../../../../src/api/export/redact/find-secrets.ts'
import { Masking } from '../../../../src/api/export/redact/masking.ts'
import { isNamedSecret } from '../../../../src/api/export/redact/rules.ts'
import table from '../../../../src/api/export/redact/rules.json' with { type: 'json' }
import { fillSecret } from '../../../helpers/fill-secret.ts'
import { harmless } from '../../../helpers/secret-corpus.ts'
import { leastOfThree, startCpuClock } from '../../../helpers/cpu-time.ts'
import { casesBeside } from '../../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

const find = (text: string): readonly (readonly [kind: string, secret: string])[] =>
  findSecrets(text).map(({ kind, start, end }) => [kind, text.slice(start, end)] as const)

const jwt = fillSecret('eyJ{30}.eyJ{80}.{43}')

const inContext: readonly (readonly [kind: string, secret: string, text: (secret: string) => string])[] = [
  ['named-secret', 'c0rrect-h0rse', (secret) => String.raw`{\"apiKey\": \"${secret}\"}`],
  [
    'named-secret',
    'c0rrect-h0rse',
    (secret) => `<clearTextPassword xml:space="keep">\n  ${secret}\n</clearTextPassword>`,
  ],
  ['named-secret', 'c0rrect-h0rse', (secret) => String.raw`"<dbPassword>${secret}<\/dbPassword>"`],
  ['user-password', 'c0rrect:h0rse', (secret) => `curl -sS --user 'ada:${secret}' https://x.example.com`],
  [
    'user-password',
    'c0rrect-h0rse',
    (secret) => String.raw`{\"command\": \"curl -u \\\"ada:${secret}\\\" https://x\"}`,
  ],
  ['named-secret', fillSecret('{letters:40}'), (secret) => `"SecretAccessKey" : "${secret}"`],
  ['url-password', fillSecret('{hex:40}'), (secret) => `https://${secret}:x-oauth-basic@github.com/ada/shop.git`],
  ['aws', '1234-5678-9012', (secret) => `AWS_ACCOUNT_ID="${secret}"`],
  // As JSON that escapes more than it needs prints them.
  [
    'url-password',
    'pa55-w0rd!x',
    (secret) => String.raw`{"url": "postgres:\/\/shop:${secret}@db.example.com\/orders"}`,
  ],
  ['url-password', 'pa55-w0rd!x', (secret) => String.raw`{\"url\": \"amqp:\\/\\/shop:${secret}@mq.example.com\"}`],
  ['url-password', String.raw`pa\u002B55\u0026w0rd`, (secret) => `{"url": "postgres://shop:${secret}@db.example.com"}`],
  [
    'slack-webhook',
    fillSecret('{24}'),
    (secret) => String.raw`"https:\/\/hooks.slack.com\/services\/T0ABC\/B0DEF\/${secret}"`,
  ],
  ['azure-key', fillSecret('{40}\\u002B{44}=='), (secret) => `{"store": "AccountName=a;AccountKey=${secret};"}`],
  ['authorization', fillSecret('{9}\\u002B{33}'), (secret) => `{"authorization": "Bearer ${secret}"}`],
]

test.each(inContext)('%s by what stands around it, %#', (kind, secret, text) => {
  const found = find(text(secret))
  expect(found.map(([each]) => each)).toContain(kind)
  const left = found.reduce((sum, [, each]) => sum.replace(each, ''), text(secret))
  expect(left).not.toContain(secret)
  expect(left).not.toContain(secret.slice(-Math.ceil(secret.length / 3)))
})

const innocent = cases<string>('innocent')

test.each(innocent)('a text without secrets stays unchanged: %s', (text) => {
  expect(find(text)).toEqual([])
})

const colour = '\u001b[01;31m\u001b[K'
const plain = '\u001b[m\u001b[K'

/** As programs print it for a terminal, and as JSON within JSON holds what they printed. */
const printed: readonly (readonly [how: string, text: (secret: string) => string])[] = [
  ['in a colour', (secret) => `${colour}${secret}${plain}`],
  ['where its beginning is coloured', (secret) => `${colour}${secret.slice(0, 8)}${plain}${secret.slice(8)}`],
  [
    'found in its midst',
    (secret) => `a ${secret.slice(0, 9)}${colour}${secret.slice(9, 12)}${plain}${secret.slice(12)} b`,
  ],
  ['on a line of its own', (secret) => String.raw`{"out": "first\n${secret}\nlast"}`],
  ['behind a tab, twice in JSON', (secret) => String.raw`"{\"out\": \"first\\t${secret}\"}"`],
  ['in a colour, in JSON', (secret) => String.raw`{"out": "\u001b[31m${secret}\u001b[0m"}`],
]

test.each(printed)('a secret that a program printed is found %s', (_, text) => {
  for (const [kind, secret] of [
    ['github-token', fillSecret('ghp_{36}')],
    ['aws-access-key', fillSecret('AKIA{upper:16}')],
    ['npm-token', fillSecret('npm_{36}')],
    ['jwt', jwt],
  ] as const) {
    const found = find(text(secret))
    expect(found.map(([each]) => each)).toEqual([kind])
    const left = text(secret).replace(found[0]?.[1] ?? '', '')
    for (const part of [secret.slice(0, 6), secret.slice(-6)]) expect(left).not.toContain(part)
  }
})

test.each(['     1|', 'L1:', '.env:1:', '.env-1-', '+', '-'])(
  'a setting after %j, as tools print files, is found',
  (before) => {
    const secret = 'a7Bc93kDq2m!'
    const text = `${before}SHOP_ENV=test\n${before}SHOP_PASSWORD=${secret}\n${before}SHOP_LANG=C`
    expect(find(text)).toEqual([['named-secret', secret]])
  },
)

test('a setting after an escaped line end is found', () => {
  const text = String.raw`{"env": "HOME=/home/ada\nSHOP_API_KEY=a7Bc93kDq2mZ\nLANG=C"}`
  expect(find(text)).toEqual([['named-secret', 'a7Bc93kDq2mZ']])
})

test('a secret far back in a long text is found exactly once', () => {
  const secret = fillSecret('ghp_{36}')
  const key = fillSecret('-----BEGIN RSA PRIVATE KEY-----\n{64}\n{64}\n{30}==\n-----END RSA PRIVATE KEY-----')
  for (const at of [524_288 - 20, 524_288 - 32_768 + 3, 491_520 + 10, 1_000_000]) {
    const text = `${'word '.repeat(Math.ceil(at / 5)).slice(0, at)} ${secret} ${key} ${'more '.repeat(50_000)}`
    expect(find(text).map(([, each]) => each)).toEqual([secret, key])
  }
})

test.each('k x X . * % $ < { [ # @ ! ('.split(' '))('a password that starts with %s is masked', (first) => {
  const secret = `${first}7Kq2mPz94LwR8tB5vN1d`
  const texts = [`DB_PASSWORD="${secret}"`, `{"password": "${secret}"}`, `DB_PASSWORD=${secret}`]
  for (const text of texts) expect(find(text).map(([, each]) => each)).toContain(secret)
  expect(isNamedSecret('password', secret)).toBe(true)
})

const placeholders = cases<string>('placeholders')

test.each(placeholders)('the placeholder %s stays unchanged', (value) => {
  expect(find(`password: "${value}"`)).toEqual([])
  expect(find(`PASSWORD=${value}`)).toEqual([])
  expect(isNamedSecret('password', value)).toBe(false)
})

test.each(['$PASSWORD', '${PASSWORD}', '%s', '%PASSWORD%', '{{password}}', '****', 'xxxx', '...', '$1'])(
  'the placeholder %s in a URL stays unchanged',
  (value) => {
    expect(find(`https://ada:${value}@git.example.com/x.git`)).toEqual([])
  },
)

test('the default of a variable can be a secret', () => {
  expect(find('DB_PASSWORD="${DB_PASSWORD:-c0rrect-h0rse}"')).toHaveLength(1)
})

const whole = cases<[secret: string, text: string]>('whole')

test.each(whole)('%s is masked completely, %#', (secret, text) => {
  const found = find(text.replace('{secret}', () => secret))
  expect(found.map(([, each]) => each)).toEqual([secret])
})

const depths = [1, 2, 3].flatMap((depth) => [[depth, 'in one line', 0] as const, [depth, 'in lines', 2] as const])

test.each(depths)(
  'JSON of depth %i, %s, stays valid when a quoted setting in it is masked',
  (depth, _lines, indent) => {
    const settings = ['DB_PASSWORD=', 'curl -u "ada:"', `password=''`, 'API_TOKEN=']
    const texts = settings.map((text, index) => text.replace(/(?=["']?$)/, `c0rrect-h0rse-${index}`))
    let [text, left] = [JSON.stringify({ texts }, null, indent), '']
    for (let level = 1; level < depth; level += 1) text = JSON.stringify({ text })
    for (const [, secret] of find(text)) text = text.replaceAll(secret, '***')
    let read: unknown = { text }
    for (let level = 1; level <= depth; level += 1) read = JSON.parse((read as { text: string }).text)
    left = JSON.stringify(read)
    expect(left).toContain('***')
    expect(left).not.toContain('c0rrect-h0rse')
  },
)

test('searching many messages leaves no performance marks behind', () => {
  const marks = (): number => performance.getEntriesByType('mark').length
  const before = marks()
  for (let index = 0; index < 20; index += 1) find(`message ${index}`)
  expect(marks()).toBe(before)
})

test('a comment that disables a linter hides no secret', () => {
  const secret = fillSecret('dckr_pat_{27}')
  expect(find(`// secretlint-disable\n${secret}`)).toEqual([['docker', secret]])
})

/** Texts that make a careless pattern backtrack. */
const hostile: readonly (readonly [name: string, text: string])[] = cases<string>('hostile').map(
  (piece) => [JSON.stringify(piece), piece.repeat(Math.ceil(400_000 / piece.length))] as const,
)

// Such a text takes about 30 ms. A pattern that goes back again and again would take minutes.
test.each(hostile)('a very long text of %s takes no longer than a second', async (_, text) => {
  const cpuMsOf = (): Promise<number> => {
    const cpuMs = startCpuClock()
    findSecrets(text)
    return Promise.resolve(cpuMs())
  }
  expect(await leastOfThree(1000, cpuMsOf)).toBeLessThan(1000)
})

const rules = [...table.tokens, ...table.others, ...table.named.rules].map(
  (rule, at) => [`${at} ${rule.kind}`, rule] as const,
)

test('the table names more than 200 kinds', () => {
  expect(new Set(rules.map(([, { kind }]) => kind)).size).toBeGreaterThan(200)
})

test.each(rules)(
  '%s: its example is masked, its counter-example stays',
  (_, { kind, example, harmless: lookalike }) => {
    for (const seed of [1, 2, 3]) {
      const text = fillSecret(example, seed)
      const masking = new Masking()
      expect(masking.mask(text)).not.toBe(text)
      expect(masking.counts.map((count) => count.kind)).toContain(kind)
    }
    const counter = fillSecret(lookalike)
    expect(new Masking().mask(counter)).toBe(counter)
  },
)

test('tokens are masked whole in brackets, in a sentence and in quotes', () => {
  for (const token of table.tokens.map(({ example }) => fillSecret(example))) {
    for (const text of [`(${token})`, `key: ${token}, and so on`, `say "${token}".`])
      expect(new Masking().mask(text)).not.toContain(token.slice(-Math.ceil(token.length / 3)))
  }
})

test('a secret in the input of a tool is known by the key, the flag or the name beside it', () => {
  const input = {
    args: ['deploy', '--password', 'opensesame', '--verbose'],
    env: [{ name: 'DB_PASSWORD', value: 'opensesame' }],
    headers: {
      Cookie: 'lang=en; session=opensesame',
      Authorization: 'token opensesame',
      'X-Vault-Token': 'opensesame-root',
    },
    passwords: ['opensesame'],
    db: { pass: 'opensesame', user: 'ada', port: '5432' },
  }
  const masked = JSON.stringify(new Masking().mask(input))
  expect(masked).not.toContain('opensesame')
  for (const kept of ['deploy', '--password', '--verbose', 'DB_PASSWORD', 'token', 'ada', '5432'])
    expect(masked).toContain(kept)
})

test('at most 5 of more than 200 harmless lines are masked', () => {
  expect(harmless.length).toBeGreaterThan(200)
  const changed = [...harmless, ...harmless.map((text) => JSON.stringify({ text }))].filter(
    (text) => new Masking().mask(text) !== text,
  )
  expect(changed.slice(5)).toEqual([])
})
