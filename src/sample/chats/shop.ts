import { edit, failed, file, grep, lines, list, read, rejected, run, say, think, todos, user } from '../script.ts'
import type { Thread } from '../script.ts'

interface Getter {
  readonly name: string
  readonly field: string
  readonly owner: string
  readonly caller: string
  readonly fallback: string
}

/** A getter that meets an object that is not there. */
function brokenGetter({ name, field, owner, caller, fallback }: Getter): Thread {
  const path = `src/${owner}/${name}.ts`
  return {
    project: 'shop',
    title: `${name} throws for a missing ${owner}`,
    mode: 'agent',
    steps: [
      user(
        `Since this morning Sentry shows \`TypeError: Cannot read properties of undefined (reading '${field}')\` in ${name}, only for guests. Can you find out why and fix it?`,
        file(path),
      ),
      think(
        `The error comes from ${name}. A guest has no ${owner} in the session, so the lookup gives undefined. I should see who calls it before I change its return type.`,
      ),
      grep(
        name,
        `${path}:4:export function ${name}(id: string): string {`,
        `${caller}:31:  const label = ${name}(session.${owner}Id)`,
        `test/${owner}/${name}.test.ts:7:  expect(${name}('${owner}_1')).toBe('Ada')`,
      ),
      read(
        path,
        `import { find } from '../store'\n\nexport function ${name}(id: string): string {\n  const found = find('${owner}', id)\n  return found.${field}\n}\n`,
      ),
      say(
        `\`find\` answers \`undefined\` where there is no such ${owner}, and \`${name}\` reads \`.${field}\` of it. ${caller} calls it for guests too, whose \`${owner}Id\` is empty since the session rewrite.`,
      ),
      edit(
        path,
        ` export function ${name}(id: string | null): string {`,
        `-  const found = find('${owner}', id)`,
        `-  return found.${field}`,
        `+  const found = id === null ? undefined : find('${owner}', id)`,
        `+  return found?.${field} ?? ${fallback}`,
        ` }`,
      ),
      failed(
        run(
          'npm test -- --run test/' + owner,
          ` FAIL  test/${owner}/${name}.test.ts\nAssertionError: expected '' to be 'Ada'`,
        ),
        'Command failed with exit code 1',
      ),
      say('The test builds its store after the import, so the default is taken. I make the lookup lazy in the test.'),
      edit(`test/${owner}/${name}.test.ts`, `-const store = seed()`, `+beforeEach(() => seed())`),
      run('npm test -- --run test/' + owner, ` ✓ test/${owner}/${name}.test.ts (4 tests) 12ms\n\n Tests  4 passed (4)`),
      say(
        `Fixed. \`${name}\` now takes \`null\` and falls back to ${fallback}:\n\n\`\`\`ts\nreturn found?.${field} ?? ${fallback}\n\`\`\`\n\nThe four tests pass. I left the old overload, since ${caller} is the only caller.`,
      ),
      user('Thanks. Why did nobody see this in review?'),
      say(
        `\`find\` is declared with \`any\` as its result, so the compiler had nothing to say. With \`noUncheckedIndexedAccess\` and a typed \`find\` it would have been an error at line 5.`,
      ),
    ],
  }
}

interface Flake {
  readonly spec: string
  readonly symptom: string
  readonly cause: string
  readonly ticket: string
}

/** A test that fails on CI alone; the assistant's short way out is refused. */
function flakyTest({ spec, symptom, cause, ticket }: Flake): Thread {
  return {
    project: 'shop',
    title: `Flaky ${spec} (${ticket})`,
    mode: 'agent',
    steps: [
      user(`${ticket}: ${spec} fails in every third CI run with "${symptom}". Never on my machine.`),
      todos('> reproduce it', '- find the cause', '- fix it without a retry'),
      run(`for i in $(seq 20); do npx vitest run ${spec} || break; done`, `✗ ${spec}\n  ${symptom}\n  run 7 of 20`),
      think(`Seven runs, so it is a race and not the machine. What do the tests share? ${cause}`, 9),
      rejected(run(`npx vitest run --retry 5 ${spec}`, '')),
      user('No retries please. Find the cause.'),
      grep('beforeAll', `${spec}:9:beforeAll(async () => {`, `test/setup.ts:3:beforeAll(() => server.listen(0))`),
      say(`Found it: ${cause}. Each test needs its own.`),
      edit(spec, '-beforeAll(async () => {', '+beforeEach(async () => {', '   db = await openTemporary()', ' })'),
      todos('x reproduce it', 'x find the cause', 'x fix it without a retry'),
      run(`for i in $(seq 50); do npx vitest run ${spec} || break; done; echo $i`, '50'),
      say('Fifty green runs in a row. The suite takes 1.1 s longer, which is the price of a database for each test.'),
    ],
  }
}

interface Question {
  readonly path: string
  readonly code: string
  readonly question: string
  readonly answer: string
  readonly title: string
}

/** Asked about a selection, answered without a tool. */
const explain = ({ path, code, question, answer, title }: Question): Thread => ({
  project: 'shop',
  title,
  mode: 'chat',
  steps: [user(question, lines(path, code)), say(answer), user('Makes sense, thank you!'), say('Gladly.')],
})

export const shopChats: readonly Thread[] = [
  brokenGetter({
    name: 'getUserName',
    field: 'firstName',
    owner: 'user',
    caller: 'src/checkout/greeting.tsx',
    fallback: `'Guest'`,
  }),
  brokenGetter({
    name: 'getOrderTotal',
    field: 'grandTotal',
    owner: 'order',
    caller: 'src/checkout/summary.tsx',
    fallback: '0',
  }),
  brokenGetter({
    name: 'getShippingLabel',
    field: 'street',
    owner: 'address',
    caller: 'src/checkout/delivery.tsx',
    fallback: `'No address yet'`,
  }),
  flakyTest({
    spec: 'test/cart/merge-cart.test.ts',
    symptom: 'expected 3 items, got 5',
    cause: 'both tests write to the same cart of the same database',
    ticket: 'SHOP-4711',
  }),
  flakyTest({
    spec: 'test/payment/webhook.test.ts',
    symptom: 'connect ECONNREFUSED 127.0.0.1:41999',
    cause: 'the fake payment server of one test is closed by the afterAll of another',
    ticket: 'SHOP-4802',
  }),
  explain({
    title: 'What debounce does in the search box',
    path: 'src/search/search-box.tsx',
    code: 'const ask = useMemo(() => debounce(fetchSuggestions, 150), [])',
    question: 'Why is this wrapped in useMemo? Could debounce not stand in the handler?',
    answer:
      'Every render would make a new debounced function with a timer of its own, so that each keystroke would still send a request 150 ms later. `useMemo` keeps one function, and with it one timer, for the life of the component.',
  }),
  explain({
    title: 'Rounding of prices',
    path: 'src/money/round-half-even.ts',
    code: 'export const roundHalfEven = (cents: number): number => …',
    question: 'Is banker’s rounding right for VAT, or only for statistics?',
    answer:
      'For VAT most tax offices expect commercial rounding (half away from zero), line by line or on the sum, but always the same way. `roundHalfEven` avoids drift in statistics; here I would use `roundHalfUp` and keep the amount in cents.',
  }),
  {
    project: 'shop',
    title: 'Where do the translations live?',
    mode: 'chat',
    steps: [
      user('Where do the translations of the checkout live? I only find keys.'),
      list('src/i18n', 'de.json', 'en.json', 'ja.json', 'index.ts'),
      say('In `src/i18n/*.json`, one file a language; `index.ts` loads them lazily by `navigator.language`.'),
    ],
  },
]
