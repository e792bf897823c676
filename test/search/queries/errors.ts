import { answer, failedTool, tool, type Scene } from '../corpus/planted.ts'

/** Error texts and stack traces, pasted completely or remembered in part. */
export const errors: readonly Scene[] = [
  {
    docs: {
      asked:
        "TypeError: Cannot read properties of undefined (reading 'shippingAddress')\n    at renderLabel (src/labels/render.ts:41:17)",
      fixed: answer('`order.shippingAddress` is undefined for gift cards, so the label cannot be rendered.'),
      other:
        "TypeError: Cannot read properties of undefined (reading 'billingAddress')\n    at renderBill (src/bills/render.ts:12:9)",
      nullish: "TypeError: Cannot read properties of null (reading 'shippingAddress')",
    },
    asks: [
      {
        q: "Cannot read properties of undefined (reading 'shippingAddress')",
        want: 'asked',
        best: 'asked',
        never: 'other nullish',
      },
      { q: 'renderLabel render.ts:41', want: 'asked', never: 'other' },
      { q: 'undefined shippingAddress', want: 'asked fixed', never: 'other' },
    ],
  },
  {
    docs: {
      refused: failedTool('run_terminal_cmd', { command: 'npm run migrate' }, 'connect ECONNREFUSED 10.4.7.19:5433'),
      asked: 'Since the move I get ECONNREFUSED on port 5433 and nothing in the log of the server.',
      otherPort: failedTool('run_terminal_cmd', { command: 'npm run seed' }, 'connect ECONNREFUSED 10.4.7.19:6380'),
      reset: 'read ECONNRESET on port 5433 happens once a day.',
    },
    asks: [
      { q: 'ECONNREFUSED 10.4.7.19:5433', want: 'refused', best: 'refused', never: 'otherPort' },
      { q: 'ECONNREFUSED 5433', want: 'refused asked', never: 'otherPort reset' },
    ],
  },
  {
    docs: {
      trace: tool(
        'run_terminal_cmd',
        { command: 'pytest -x tests/tariff' },
        {
          output:
            'Traceback (most recent call last):\n  File "/srv/app/tariff/bands.py", line 88, in pick_band\nKeyError: \'night_rate\'',
        },
      ),
      said: answer("The KeyError: 'night_rate' comes from a tariff that was written before bands existed."),
      day: "KeyError: 'day_rate' in pick_band, line 90",
    },
    asks: [
      { q: "KeyError: 'night_rate'", want: 'trace said', never: 'day' },
      { q: 'bands.py line 88 pick_band', want: 'trace', never: 'day' },
    ],
  },
  {
    docs: {
      java: 'java.lang.IllegalStateException: Ledger already sealed\n\tat com.acme.ledger.Seal.apply(Seal.java:57)\n\tat com.acme.ledger.Run.main(Run.java:9)',
      said: answer('It says "Ledger already sealed" because the job ran twice.'),
      near: 'java.lang.IllegalStateException: Ledger not yet sealed\n\tat com.acme.ledger.Open.apply(Open.java:31)',
      argument: 'java.lang.IllegalArgumentException: Ledger already open',
    },
    asks: [
      { q: 'IllegalStateException: Ledger already sealed', want: 'java', never: 'near argument' },
      { q: 'Seal.java:57', want: 'java', never: 'near' },
      { q: '"ledger already sealed"', want: 'java said', never: 'near argument' },
    ],
  },
  {
    docs: {
      rust: 'error[E0502]: cannot borrow `*self.tiles` as mutable because it is also borrowed as immutable\n  --> src/tiles/evict.rs:203:9',
      near: 'error[E0499]: cannot borrow `*self.tiles` as mutable more than once at a time\n  --> src/tiles/evict.rs:210:9',
      said: answer('E0502 goes away if the key is cloned first.'),
    },
    asks: [
      { q: 'E0502', want: 'rust said', never: 'near' },
      {
        q: 'cannot borrow as mutable because it is also borrowed as immutable',
        want: 'rust',
        best: 'rust',
        never: 'near',
      },
      { q: 'evict.rs:203', want: 'rust', never: 'near' },
    ],
  },
  {
    docs: {
      ts: "src/rates/table.ts(14,3): error TS2322: Type 'string | undefined' is not assignable to type 'string'.",
      near: "src/rates/table.ts(19,3): error TS2345: Argument of type 'string | undefined' is not assignable.",
      said: answer('TS2322 in table.ts: the rate has no currency yet.'),
    },
    asks: [
      { q: 'TS2322 table.ts', want: 'ts said', never: 'near' },
      {
        q: "error TS2322: Type 'string | undefined' is not assignable to type 'string'",
        want: 'ts',
        best: 'ts',
        never: 'near',
      },
    ],
  },
  {
    docs: {
      go: 'panic: runtime error: index out of range [7] with length 7\n\ngoroutine 812 [running]:\nmain.(*Ring).Push(0xc0000b2000)\n\t/srv/gauge/ring.go:66 +0x1d',
      near: 'panic: runtime error: slice bounds out of range [:9] with capacity 8',
      said: answer('The Ring is full at seven: "index out of range [7] with length 7" is an off-by-one in Push.'),
    },
    asks: [
      { q: 'index out of range [7] with length 7', want: 'go said', never: 'near' },
      { q: 'ring.go:66', want: 'go', never: 'near said' },
    ],
  },
  {
    docs: {
      ci: tool(
        'run_terminal_cmd',
        { command: 'docker build .' },
        {
          output:
            '#12 ERROR: process "/bin/sh -c yarn install --frozen-lockfile" did not complete successfully: exit code: 137',
        },
      ),
      killed: answer('Exit code 137 means that the system killed it: yarn needs more memory.'),
      near: 'exit code: 139 is a segfault, that is another story.',
    },
    asks: [
      { q: 'exit code 137', want: 'ci killed', never: 'near' },
      { q: 'yarn install frozen-lockfile 137', want: 'ci', never: 'near' },
    ],
  },
]
