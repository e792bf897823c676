import { answer, bare, code, tool, type Scene } from '../corpus/planted.ts'

/** All spellings of the same parts find each other, and fewer parts find longer names. */
export const identifiers: readonly Scene[] = [
  {
    docs: {
      camel: 'Why is getUserName called twice on every render?',
      snake: answer('In the Python client the same thing is `get_user_name(session)`.'),
      pascal: code('csharp', 'src/Accounts.cs', 'public string GetUserName(Guid id) => _names[id];'),
      kebab: 'The custom element is <get-user-name> and has no shadow root.',
      spaced: bare('First get user name and avatar, then the rest of the card.'),
      longer: code('ts', 'src/cards.ts', 'const getUserNameFromCache = (id: string) => cache.get(id)?.name'),
      apart: bare('The user has to get a token before the name of the account is shown.'),
      otherOrder: 'userNameGet is what the generated client calls it.',
      numbered: 'getUser2Name was a hack for the second tenant.',
    },
    asks: [
      { q: 'getUserName', want: 'camel snake pascal kebab spaced longer', never: 'apart otherOrder numbered' },
      { q: 'get_user_name', want: 'camel snake pascal kebab spaced longer', never: 'apart otherOrder numbered' },
      { q: 'get-user-name', want: 'camel snake pascal kebab spaced longer', never: 'apart otherOrder numbered' },
      { q: 'GetUserName', want: 'camel snake pascal kebab spaced longer', never: 'apart otherOrder numbered' },
      { q: 'get user name', want: 'camel snake pascal kebab spaced longer', isCommon: true },
      { q: 'getUserNameFromCache', want: 'longer', never: 'camel snake' },
    ],
  },
  {
    docs: {
      camel: 'invoiceLineTotal is off by one cent for Swiss francs.',
      snake: tool(
        'run_terminal_cmd',
        { command: 'psql -c "\\d invoices"' },
        { output: 'invoice_line_total | numeric' },
      ),
      pascal: code('go', 'internal/invoice.go', 'type InvoiceLineTotal struct { Cents int64 }'),
      kebab: answer('The column header has the class `invoice-line-total` now.'),
      upper: 'Set INVOICE_LINE_TOTAL in the environment of the worker.',
      dotted: 'The template reads invoice.line.total and rounds it.',
      near: 'invoiceLinesTotal counts the lines, not the money.',
      apart: 'Each line of the invoice has a total of its own.',
    },
    asks: [
      { q: 'invoiceLineTotal', want: 'camel snake pascal kebab upper dotted', never: 'near apart' },
      { q: 'invoice_line_total', want: 'camel snake pascal kebab upper dotted', never: 'near apart' },
      { q: 'INVOICE_LINE_TOTAL', want: 'camel snake pascal kebab upper dotted', never: 'near apart' },
      { q: 'invoice-line-total', want: 'camel snake pascal kebab upper dotted', never: 'near apart' },
      { q: 'invoice.line.total', want: 'camel snake pascal kebab upper dotted', never: 'near apart' },
      { q: 'invoicelinetotal', want: 'camel pascal' },
    ],
  },
  {
    docs: {
      one: 'The board reports kw1x2 when the relay sticks.',
      other: 'The board reports kw12x2 when the fan sticks.',
      more: 'The board reports kw1x22 when nothing sticks.',
      split: 'kw 1 y 2 was the old way to write it.',
    },
    asks: [
      { q: 'kw1x2', want: 'one', never: 'other more split' },
      { q: 'kw12x2', want: 'other', never: 'one more split' },
    ],
  },
  {
    docs: {
      http: code('java', 'src/Gateway.java', 'class HTTPServerFactory extends GatewayFactory {}'),
      snake: answer('In Rust I would call it `http_server_factory`.'),
      plain: 'Where is the httpServerFactory wired up?',
      near: 'The HTTPSServerFactory wants a certificate first.',
      apart: 'An http server needs no factory at all.',
    },
    asks: [
      { q: 'HTTPServerFactory', want: 'http snake plain', never: 'near apart' },
      { q: 'http_server_factory', want: 'http snake plain', never: 'near apart' },
      { q: 'serverFactory', want: 'http snake plain near' },
    ],
  },
  {
    docs: {
      list: 'usePaymentMethodList flickers while it loads.',
      method: answer('Move `paymentMethod` into the reducer.'),
      snake: code('py', 'pay/models.py', 'payment_method = models.ForeignKey(Method, on_delete=PROTECT)'),
      near: 'paymentMethods is a map, and there is no list of them.',
      turned: 'methodPayment is a typo in the fixture.',
    },
    asks: [
      { q: 'paymentMethod', want: 'method list snake', never: 'near turned' },
      { q: 'payment_method', want: 'method list snake', never: 'near turned' },
      { q: 'PaymentMethodList', want: 'list', never: 'method snake near' },
    ],
  },
  {
    docs: {
      brand: 'We moved the runners from GitLab to OpenTofu and PostgreSQL.',
      lower: answer('The role installs postgresql and opentofu from the distribution.'),
      apart: 'The post about gre and sql is still a draft.',
    },
    asks: [
      { q: 'opentofu', want: 'brand lower', never: 'apart' },
      { q: 'OpenTofu', want: 'brand lower', never: 'apart' },
      { q: 'postgresql opentofu', want: 'brand lower', never: 'apart' },
    ],
  },
  {
    docs: {
      dotted: 'It dies in com.acme.shipping.LabelPrinter with an empty queue.',
      path: tool(
        'read_file',
        { relativeWorkspacePath: 'com/acme/shipping/LabelPrinter.java' },
        { contents: 'class X {}' },
      ),
      scoped: 'acme::shipping::label_printer is the Rust port of it.',
      near: 'com.acme.shopping.LabelPrinter prints price tags, that is another one.',
    },
    asks: [
      { q: 'acme.shipping.LabelPrinter', want: 'dotted path scoped', never: 'near' },
      { q: 'shipping/LabelPrinter', want: 'dotted path scoped', never: 'near' },
      { q: 'shipping::label_printer', want: 'dotted path scoped', never: 'near' },
    ],
  },
  {
    docs: {
      env: 'MAX_RETRY_BACKOFF_MS defaults to 30000 and nobody knows why.',
      yaml: code('yaml', 'deploy/values.yaml', 'worker:\n  maxRetryBackoffMs: 30000'),
      flag: bare('Start it with --max-retry-backoff-ms 5000 and watch.'),
      near: 'MAX_RETRY_BACKOFF_S is the same in seconds.',
      apart: 'With a max of five, retry and backoff add up to many ms.',
    },
    asks: [
      { q: 'maxRetryBackoffMs', want: 'env yaml flag', never: 'near apart' },
      { q: '"--max-retry-backoff-ms"', want: 'env yaml flag', never: 'near apart' },
      { q: 'retry_backoff', want: 'env yaml flag near', never: 'apart' },
    ],
  },
  {
    docs: {
      ids: 'parseISO8601Duration chokes on P1W.',
      snake: answer('`parse_iso8601_duration` handles weeks, `parse_iso_duration` does not.'),
      near: 'parseISO8601Date is fine.',
    },
    asks: [
      { q: 'parseISO8601Duration', want: 'ids snake', never: 'near' },
      { q: 'parse_iso8601_duration', want: 'ids snake', never: 'near' },
    ],
  },
  {
    docs: {
      sha: 'useSHA256Digest is slow on phones.',
      kebab: answer('Rename the crate to `sha256-digest`.'),
      near: 'useSHA512Digest is even slower.',
      spaced: bare('A sha256 digest of 64 signs stands in each row.'),
    },
    asks: [
      { q: 'sha256Digest', want: 'sha kebab spaced', never: 'near' },
      { q: 'SHA256_DIGEST', want: 'sha kebab spaced', never: 'near' },
    ],
  },
]
