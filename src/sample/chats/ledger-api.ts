import { cancelled, edit, file, grep, mcp, oops, read, run, say, task, think, todos, user } from '../script.ts'
import type { Thread } from '../script.ts'

interface Leak {
  readonly where: string
  readonly path: string
  readonly holder: string
}

/** Connections that are taken and never given back. */
function exhaustedPool({ where, path, holder }: Leak): Thread {
  return {
    project: 'ledger-api',
    title: `Connection pool runs dry in ${where}`,
    mode: 'agent',
    steps: [
      user(
        `Production log of tonight:\n\nsqlalchemy.exc.TimeoutError: QueuePool limit of size 5 overflow 10 reached, connection timed out, timeout 30.00\n\nIt starts about ten minutes after ${where} runs. What holds the connections?`,
      ),
      think(
        `A connection pool that drains slowly is a leak: a session opened and not closed on one path. In ${where} the likely one is ${holder}.`,
        11,
      ),
      grep('SessionLocal\\(', `${path}:18:    db = SessionLocal()`, `app/deps.py:9:    db = SessionLocal()`),
      read(
        path,
        `def ${holder}(batch):\n    db = SessionLocal()\n    for entry in batch:\n        post_entry(db, entry)\n    db.commit()\n`,
      ),
      say(
        `\`${holder}\` opens a session and closes it on no path; when \`post_entry\` raises, the transaction stays open too. \`app/deps.py\` is fine, it closes in \`finally\`.`,
      ),
      edit(
        path,
        ` def ${holder}(batch):`,
        '-    db = SessionLocal()',
        '-    for entry in batch:',
        '-        post_entry(db, entry)',
        '-    db.commit()',
        '+    with SessionLocal() as db, db.begin():',
        '+        for entry in batch:',
        '+            post_entry(db, entry)',
      ),
      run('pytest -q tests/test_pool.py', '..\n2 passed in 3.41s'),
      mcp(
        'mcp_postgres_query',
        { sql: `select count(*) from pg_stat_activity where state = 'idle in transaction'` },
        '[{"count": 0}]',
      ),
      say(
        `Fixed in \`${path}\`: the session is a context manager now, and the connection pool stays at two connections over 500 batches. I would also set \`pool_pre_ping=True\`, but that is another matter.`,
      ),
    ],
  }
}

interface SlowQuery {
  readonly table: string
  readonly column: string
  readonly seconds: string
  readonly route: string
}

function slowQuery({ table, column, seconds, route }: SlowQuery): Thread {
  return {
    project: 'ledger-api',
    title: `GET ${route} takes ${seconds} s`,
    mode: 'agent',
    steps: [
      user(
        `GET ${route} takes ${seconds} s with the data of the largest customer. Please look at the query plan first.`,
      ),
      run(
        `psql -c "explain (analyze, buffers) select * from ${table} where ${column} = 42 order by booked_at desc limit 50"`,
        `Limit  (actual time=${seconds}812.4..${seconds}812.5 rows=50 loops=1)\n  ->  Sort  (actual rows=50)\n        ->  Seq Scan on ${table}  (actual rows=1893211)\n              Filter: (${column} = 42)`,
      ),
      think(
        `A sequential scan over 1.9 million rows and a sort. One index over both columns serves filter and order.`,
        3,
      ),
      say(
        `Postgres reads the whole table and sorts it. An index over \`(${column}, booked_at desc)\` gives the fifty rows in order:\n\n\`\`\`sql\ncreate index concurrently ${table}_by_${column} on ${table} (${column}, booked_at desc);\n\`\`\``,
      ),
      edit(
        `migrations/${table}_by_${column}.py`,
        '+def upgrade():',
        `+    op.execute("create index concurrently ${table}_by_${column} on ${table} (${column}, booked_at desc)")`,
      ),
      cancelled(run('alembic upgrade head', '')),
      user('Not on my database, I run the migration myself. What will it be afterwards?'),
      say(
        'About 0.4 ms: fifty index entries and fifty rows. Mind that `concurrently` may not run inside a transaction.',
      ),
    ],
  }
}

/** Python spells `get_user_name` where the shop spells `getUserName`. */
const snakeCase: Thread = {
  project: 'ledger-api',
  title: 'Rename get_user_name to display_name',
  mode: 'edit',
  steps: [
    user(
      'Rename get_user_name to display_name everywhere, and keep the old name as an alias for one release.',
      file('app/users.py'),
    ),
    grep(
      'get_user_name',
      'app/users.py:22:def get_user_name(user: User) -> str:',
      'app/mail.py:41:    greeting = f"Hello {get_user_name(user)}"',
      'app/export.py:12:from app.users import get_user_name',
    ),
    edit(
      'app/users.py',
      '-def get_user_name(user: User) -> str:',
      '+def display_name(user: User) -> str:',
      '+',
      '+get_user_name = deprecated(display_name, since="4.2")',
    ),
    edit(
      'app/mail.py',
      '-    greeting = f"Hello {get_user_name(user)}"',
      '+    greeting = f"Hello {display_name(user)}"',
    ),
    run('ruff check . && pytest -q', 'All checks passed!\n312 passed in 21.80s'),
    say('Three places renamed; `get_user_name` warns with `DeprecationWarning` until 4.3.'),
  ],
}

/** @param childId the chat of the subagent that this one starts */
export const auditWithSubagent = (childId: string): Thread => ({
  project: 'ledger-api',
  title: 'Audit of all money arithmetic',
  mode: 'agent',
  steps: [
    user(
      'We had a float in an invoice again. Check every place that does arithmetic with money and list those that do not use Decimal.',
    ),
    todos('> find the places', '- judge each of them', '- write the list'),
    task(
      'Find float arithmetic with money',
      'Search app/ for arithmetic on amount, total, fee and tax that is not Decimal. Give path and line.',
      childId,
    ),
    say(
      'The subagent found four places. Two are harmless (percentages for a chart), two are not: `app/fees.py:57` and `app/invoice.py:103`.',
    ),
    edit(
      'app/fees.py',
      '-    return amount * 0.029 + 0.3',
      '+    return (amount * Decimal("0.029") + Decimal("0.30")).quantize(CENT)',
    ),
    edit(
      'app/invoice.py',
      '-    tax = round(total * 0.19, 2)',
      '+    tax = (total * Decimal("0.19")).quantize(CENT, ROUND_HALF_UP)',
    ),
    todos('x find the places', 'x judge each of them', 'x write the list'),
    run('pytest -q tests/money', '48 passed in 1.02s'),
    say(
      'Both repaired, with a lint rule (`flake8-decimal`) that refuses a float beside a name that ends in `_amount`.',
    ),
  ],
})

export const subagentAudit: Thread = {
  project: 'ledger-api',
  title: 'Find float arithmetic with money',
  mode: 'agent',
  steps: [
    user('Search app/ for arithmetic on amount, total, fee and tax that is not Decimal. Give path and line.'),
    grep(
      '(amount|total|fee|tax)\\w* ?[*/+-]',
      'app/fees.py:57:    return amount * 0.029 + 0.3',
      'app/invoice.py:103:    tax = round(total * 0.19, 2)',
      'app/charts.py:12:    share = total / grand_total',
      'app/charts.py:30:    fee_share = fee / total',
    ),
    say(
      'Four places: app/fees.py:57, app/invoice.py:103, app/charts.py:12 and app/charts.py:30. The last two only draw a chart.',
    ),
  ],
}

/** The provider gave up in the middle. */
const overloaded: Thread = {
  project: 'ledger-api',
  title: 'Export to DATEV',
  mode: 'plan',
  steps: [
    user('Plan an export of the journal in the DATEV format (EXTF 700). Only the plan, no code yet.'),
    think(
      'EXTF needs a header line, column names, then bookings with a semicolon; Windows-1252, decimal comma, dates as DDMM.',
      14,
    ),
    say(
      '1. A `DatevHeader` with client and advisor number.\n2. One booking a line, amount with a decimal comma, `S`/`H` for debit and credit.\n3. Encoding Windows-1252 with a test for the euro sign.',
    ),
    oops('The provider is overloaded. Please try again in a moment. (resource_exhausted)'),
    user('go on'),
    say(
      '4. Split at 99,999 bookings a file.\n5. A checksum of debit against credit before anything is written.\n6. `GET /exports/datev?year=2025` as a background job.',
    ),
  ],
}

export const ledgerChats: readonly Thread[] = [
  exhaustedPool({ where: 'the nightly settlement', path: 'app/jobs/settlement.py', holder: 'settle_batch' }),
  exhaustedPool({ where: 'the websocket feed', path: 'app/feed.py', holder: 'push_balances' }),
  exhaustedPool({ where: 'the CSV import', path: 'app/imports/bank_csv.py', holder: 'import_statement' }),
  slowQuery({ table: 'bookings', column: 'account_id', seconds: '7', route: '/accounts/42/bookings' }),
  slowQuery({ table: 'invoices', column: 'customer_id', seconds: '4', route: '/customers/42/invoices' }),
  snakeCase,
  overloaded,
]
