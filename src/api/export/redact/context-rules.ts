import { CLOSE, isGiven, toRule, type SecretRule, WORD } from './shapes.ts'
import { digits, hasDigit, isPlaceholder, isRandom, isRandomWord } from './values.ts'

/** The other arguments of a command, in one line. */
const ARGUMENTS = String.raw`(?:[^\r\n|;&]{0,80}[ \t])?`

/** `ada:pw` in Base64. */
const isBasic = (value: string): boolean =>
  /^[\x21-\x7e]{1,200}:[\x20-\x7e]{1,400}$/.test(Buffer.from(value, 'base64').toString('latin1'))

const LABELS =
  /^(?:e?mail|mailto|from|to|cc|bcc|user|username|author|contact|owner|reply|sip|xmpp|acct|npm|maintainer|by|group|serviceaccount|domain|member|principal|project|cn|dn)$/i

const isCommandValue = (value: string): boolean => !/^[-/]/.test(value) && isGiven(value)

/** The value of a header, but not `config.key`. */
const isHeader = (value: string): boolean =>
  isGiven(value) &&
  !/^[a-z_$]+(?:\.[a-z_$]+)+$|^[\w$.]+\(/i.test(value) &&
  (hasDigit(value) || isRandomWord(value) || value.length >= 16 || /^\w+(?:[-_]\w+)+$/.test(value))

/** Vendors whose keys have no look of their own. */
const VENDORS =
  'adafruit|adobe|airbrake|airtable|aiven|algolia|alchemy|amplitude|appcenter|artifactory|assemblyai|auth0|azure|bandwidth|bitbucket|bitly|bittrex|braze|bugsnag|bunny|cloudflare|cloudinary|codecov|cohere|coinbase|coveralls|customerio|datadog|deepgram|discord|docusign|drone(?:ci)?|dropbox|etherscan|etsy|expo|facebook|fastly|finicity|finnhub|flickr|freshbooks|freshdesk|gitea|gitter|heroku|hubspot|ibm|infura|intercom|iterable|jfrog|jira|kaggle|klarna|kraken|kucoin|launchdarkly|linear|linkedin|linode|logz|loggly|mailgun|mailjet|mattermost|meraki|messagebird|mistral|mixpanel|moralis|netlify|new_?relic|nytimes|okta|openweather(?:map)?|opsgenie|optimizely|pagerduty|papertrail|percy|plaid|plivo|postmark|privateai|pusher|quicknode|rapidapi|rollbar|salesforce|segment|sendbird|sentry|shodan|shortcut|sinch|smartsheet|snyk|sonar(?:qube)?|spotify|squarespace|statuspage|strava|sumo(?:logic)?|telnyx|travis|trello|tumblr|twilio|twitch|twitter|typesense|unsplash|uploadcare|upstash|virustotal|vonage|wandb|webflow|wistia|xero|yandex|youtube|zendesk|zoom'

function isVendorKey(value: string, match: RegExpMatchArray): boolean {
  const name = match.groups?.['name'] ?? ''
  if (
    /(?:id|ids|url|uri|host|name|version|region|sha|hash|path|file|commit|digest|email|number|date|time|at)$/i.test(
      name,
    )
  )
    return false
  return isRandom(value) && !/_[a-z]+$|^[a-z]+_/i.test(value) && digits(value) >= 3 && !/[./]\w+[./]/.test(value)
}

/** Secrets within addresses. JSON may escape a slash, and .NET escapes a plus: the rules accept both. */
const addresses: readonly SecretRule[] = [
  toRule({
    // Up to the last @ before the host, but not one in the query after the host. The user's name can be an address.
    kind: 'url-password',
    pattern: String.raw`:(?:\\{0,4}/){2}(?<=(?<![a-z0-9])[a-z][a-z0-9+.-]{1,20}:(?:\\{0,4}/){2})[^\s/:"'<>\\]{0,200}:(?<secret>(?:[^\s/@"'<>\\]|\\{1,4}u002[b6]){1,200}(?:@(?:(?!\?[\w.-]{1,40}=)(?:[^\s/@"'<>\\]|\\{1,4}u002[b6])){0,200}){0,20})(?=@)`,
    example: 'redis://default:opensesame@cache.example.com:6379',
    counterExample: 'https://ada:${PASSWORD}@git.example.com',
    isSecret: (secret) => !isPlaceholder(secret) && secret !== 'x-oauth-basic',
  }),
  toRule({
    // GitHub takes a token as the user's name.
    kind: 'url-password',
    pattern: String.raw`https?:(?:\\{0,4}/){2}(?<secret>[^\s/:@"'<>\\]{1,256})(?=:x-oauth-basic@)`,
    example: 'https://{hex:40}:x-oauth-basic@github.com/ada/shop.git',
    counterExample: 'https://$TOKEN:x-oauth-basic@github.com',
    isSecret: (secret) => !isPlaceholder(secret),
  }),
  toRule({
    kind: 'url-password',
    pattern: String.raw`:(?<=(?<![\w/.@:+$-])(?<user>[a-z][\w.-]{1,40}):)(?<secret>[^\s:/@"'\x60<>()\\]{4,100})(?=@(?:(?:[a-z0-9-]{1,40}\.){1,5}[a-z]{2,10}|localhost|(?:tcp|unix)\(|\d{1,3}(?:\.\d{1,3}){3})(?![\w.]*@))`,
    example: 'connect to ada:hunter22@db.example.com',
    counterExample: 'mailto:ada@example.com',
    isSecret: (secret, { groups }) => !LABELS.test(groups?.['user'] ?? '') && isGiven(secret),
  }),
  toRule({
    kind: 'url-password',
    pattern: String.raw`(?:jdbc:oracle:[a-z]{2,5}:[^\s/:@"']{1,60}|sqlplus[ \t]{1,4}(?:-\w{1,3}[ \t]{1,4})?[\w$]{1,40})/(?<secret>[^\s@"'\\]{1,100})(?=@)`,
    example: 'jdbc:oracle:thin:scott/tiger99@db:1521:xe',
    counterExample: 'jdbc:oracle:thin:@db:1521:xe',
  }),
  toRule({
    kind: 'azure-signature',
    pattern: String.raw`[?&;](?:amp;)?sig=(?<secret>[\w%+/=-]{30,120})`,
    isExact: true,
    example: '?sv=2022-11-02&sig={43}%3D',
    counterExample: '?sig=${sig}',
  }),
  toRule({
    kind: 'signed-address',
    pattern: String.raw`(?:X-Amz-(?:Signature|Security-Token)|X-Goog-Signature|Signature)=(?<secret>[\w%+/=-]{30,3000})`,
    isExact: true,
    example: '?X-Amz-Signature={hex:64}',
    counterExample: '?X-Amz-Signature=none',
  }),
  toRule({
    kind: 'azure-function-key',
    pattern: String.raw`[?&]code=(?<secret>[\w%+/-]{38,100}={0,2})`,
    isExact: true,
    example: '/api/run?code={54}==',
    counterExample: '?code=invalid_request',
    isSecret: hasDigit,
  }),
  toRule({
    kind: 'azure-key',
    pattern: String.raw`(?:AccountKey|SharedAccessKey)=(?<secret>(?:[A-Za-z0-9+/]|\\{1,4}(?:/|u002[bBfF])){40,100}={0,2})`,
    isExact: true,
    example: 'AccountName=a;AccountKey={86}==',
    counterExample: 'AccountKey=...',
  }),
  toRule({
    // A line of .pgpass.
    pattern: String.raw`:(?:\d{4,5}|\*)(?<=(?<![^\s"'])(?:[\w.-]{1,200}|\*):[\d*]{1,5}):(?![\d])[\w*-]{1,60}:(?!\d)[\w*.-]{1,60}:(?<secret>[^\s"'\\]{3,200})(?=["'\s\\]|$)`,
    isExact: true,
    example: 'db.example.com:5432:shop:ada:opensesame',
    counterExample: 'localhost:5432:shop:ada:$PASSWORD',
  }),
  toRule({
    // A line of .netrc, or several.
    pattern: String.raw`(?:machine\s{1,20}\S{1,200}|default)\s{1,20}login\s{1,20}\S{1,200}\s{1,20}(?:account\s{1,20}\S{1,200}\s{1,20})?password\s{1,20}(?<secret>[^\s"']{1,200})`,
    isExact: true,
    example: 'machine api.example.com login ada password opensesame',
    counterExample: 'machine learning login',
  }),
]

/** Secrets in the headers of requests. */
const headers: readonly SecretRule[] = [
  toRule({
    kind: 'authorization',
    pattern: String.raw`(?<!\w)(?:Bearer|Basic)\s{1,4}(?<secret>(?:[A-Za-z0-9+/_.~=-]|\\{1,4}(?:/|u002[bf])){20,4096})`,
    example: 'Bearer {40}',
    counterExample: 'Bearer authenticationMiddleware',
    isSecret: (secret) => hasDigit(secret) || isRandomWord(secret),
  }),
  toRule({
    kind: 'authorization',
    pattern: String.raw`(?<!\w)Basic\s{1,4}(?<secret>[A-Za-z0-9+/]{6,400}={0,2})(?![\w+/=])`,
    isExact: true,
    example: 'Basic YWRhOnB3',
    counterExample: 'Basic authentication',
    isSecret: isBasic,
  }),
  toRule({
    kind: 'authorization',
    pattern: String.raw`authorization${CLOSE}\s{0,4}[:=,]\s{0,4}\\{0,15}["'\x60]?(?:Bearer|Basic|Token|ApiKey|Api-Key|Key|Digest|Splunk|SSWS|GenieKey|Bot|DSN|OAuth|Negotiate|PRIVATE-TOKEN|GoogleLogin|Zoho-oauthtoken|sso-key|Apikey|JWT)\s{1,4}(?:token=|api_key=|auth=)?\\{0,15}["']?(?<secret>[^\s"'\x60,;\\]{4,4096})`,
    example: 'Authorization: token opensesame',
    counterExample: 'Authorization: Bearer ${token}',
    isSecret: isGiven,
  }),
  toRule({
    pattern: String.raw`(?:Key|Token|Secret|Auth)\\{0,15}["']?\s{0,2}:(?<=(?<![\w-])(?:X-[\w-]{0,40}(?:Key|Token|Secret|Auth)|(?:PRIVATE|JOB|DEPLOY)-TOKEN|Api-Key|Ocp-Apim-Subscription-Key|Circle-Token|DD-(?:API|APPLICATION)-KEY)\\{0,15}["']?\s{0,2}:)\s{0,2}\\{0,15}["']?(?<secret>[^\s"'\x60,;\\]{6,4096})`,
    example: 'X-Vault-Token: open-sesame-root',
    counterExample: 'X-Api-Key: ${KEY}',
    isSecret: isHeader,
  }),
  toRule({
    kind: 'cookie',
    pattern: String.raw`(?:(?<!\w)(?:Set-)?Cookie\\{0,15}["']?\s{0,2}[:,]|document\.cookie\s?=|--cookie[ =]|[ \t]-b[ \t])\s{0,2}\\{0,15}["'\x60]?(?<secret>[\w.$!%-]{1,80}=[^\s"'\x60\\;]{1,4096}(?:;[ ]?[\w.$!%-]{1,80}=[^\s"'\x60\\;]{1,4096}){0,60})`,
    example: 'Cookie: lang=en; session={32}',
    counterExample: 'Cookie: theme=dark',
    isSecret: (value) =>
      /(?:sess|sid|auth|token|jwt|csrf|xsrf|remember|login|user)[\w.-]*=[^;]{6,}/i.test(value) ||
      /=(?=[^;]*\d)[^;]{16,}/.test(value),
  }),
  toRule({
    kind: 'cookie',
    pattern: String.raw`(?:PHPSESSID|JSESSIONID|ASPSESSIONID\w{0,12}|ASP\.NET_SessionId|connect\.sid|_session(?:_id)?|session_?id|sid|wordpress_logged_in_\w{1,40}|__(?:Secure|Host)-[\w.-]{1,60})=(?<secret>[\w%.:+/-]{16,4096})`,
    isExact: true,
    example: 'curl -b "PHPSESSID={26}"',
    counterExample: 'PHPSESSID=$id',
    isSecret: (value) => hasDigit(value) && !isPlaceholder(value),
  }),
]

/** Secrets in commands of a shell, and in SQL. */
const commands: readonly SecretRule[] = [
  toRule({
    // Given to curl. Other commands take a user and a group, a time or an address there: git, rsync and pip.
    kind: 'user-password',
    pattern: String.raw`(?<![^\s"'\x60])(?:-u|--(?:proxy-)?user)[\s=]{1,4}\\{0,8}["'\x60]?(?!git@)[^\s:"'\x60\\\d][^\s:"'\x60\\]{0,200}:(?!\\{0,4}/)(?<secret>[^\s"'\x60]{6,200})`,
    isExact: true,
    example: '-u ada:hunter22',
    counterExample: 'docker run -u node:node',
    isSecret: isRandom,
  }),
  toRule({
    kind: 'user-password',
    pattern: String.raw`[ \t](?:-u|--user|--proxy-user|-a|-U)(?<=(?<!\w)(?:curl|http|https|wget)[ \t](?:[^\r\n|;]{0,100}[ \t])?[aUuser-]{2,6}|--proxy-user)[ =]{0,2}\\{0,8}["'\x60]?[\w.@+-]{1,100}:(?<secret>[^\s"'\x60\\/][^\s"'\x60\\]{2,200})`,
    isExact: true,
    example: 'curl -u ada:opensesame https://x',
    counterExample: 'curl -u "$USER:$PASSWORD" https://x',
  }),
  toRule({
    kind: 'command-password',
    pattern: String.raw`sshpass[ \t]{1,4}(?:-v[ \t])?-p[ \t]{0,4}${WORD}`,
    isExact: true,
    example: 'sshpass -p opensesame ssh ada@host',
    counterExample: 'sshpass -p "$PASS" ssh',
  }),
  toRule({
    kind: 'command-password',
    pattern: String.raw`[ \t]["']?-p(?<=(?<![\w/-])(?:mysql|mariadb)(?:-?[a-z]{2,12})?[ \t]${ARGUMENTS}["']?-p)${WORD}`,
    isExact: true,
    example: 'mysql -u root -popensesame shop',
    counterExample: 'mysql -u root -p shop',
  }),
  toRule({
    kind: 'command-password',
    pattern: String.raw`[ \t]-p[ =](?<=(?<![\w-])login[ \t]${ARGUMENTS}-p[ =])[ =]?${WORD}`,
    isExact: true,
    example: 'docker login -u ada -p opensesame',
    counterExample: 'docker login -u ada --password-stdin',
    isSecret: isCommandValue,
  }),
  toRule({
    kind: 'command-password',
    pattern: String.raw`[ \t]-a(?<=(?<![\w-])(?:redis-cli|valkey-cli)[ \t]${ARGUMENTS}-a)[ =]{0,2}${WORD}`,
    isExact: true,
    example: 'redis-cli -h cache -a opensesame ping',
    counterExample: 'redis-cli -a $PASS',
  }),
  toRule({
    kind: 'command-password',
    pattern: String.raw`[ \t](?:-h?[pPwN]|/p:)(?<=(?<![\w-])(?:mongo(?:sh|dump|restore|export|import)?|sqlcmd|bcp|xfreerdp|rdesktop|psexec|mosquitto_(?:pub|sub)|ldap(?:search|add|modify|passwd|whoami)|zip|unzip|7za?|rar|unrar|snmp(?:get|walk)|ssh-keygen|impacket\S{0,20}|evil-winrm|wpscan|hydra|isql|clickhouse-client)[ \t]${ARGUMENTS}(?:-h?[pPwN]|/p:))[ ]{0,2}${WORD}`,
    isExact: true,
    example: 'mongosh -u ada -p opensesame',
    counterExample: 'zip -r a.zip src',
    isSecret: isCommandValue,
  }),
  toRule({
    kind: 'command-password',
    pattern: String.raw`htpasswd[ \t](?:-\w{1,8}[ \t]){0,4}-\w{0,6}b\w{0,6}[ \t](?:-\w{1,3}[ \t](?:\d+[ \t])?){0,4}(?:[^\s"'|;&-]\S{0,100}[ \t]){1,2}${WORD}`,
    isExact: true,
    example: 'htpasswd -cb users ada opensesame',
    counterExample: 'htpasswd -c users ada',
    isSecret: isCommandValue,
  }),
  toRule({
    kind: 'command-password',
    pattern: String.raw`(?<![\w-])-{1,2}(?:pass(?:in|out|word)?|storepass|keypass)[ \t=]{1,4}\\{0,15}["']?(?:pass:)(?<secret>[^\s"'\x60\\]{3,200})`,
    isExact: true,
    example: 'openssl rsa -passin pass:opensesame',
    counterExample: 'openssl rsa -passin env:PASS',
  }),
  toRule({
    kind: 'command-password',
    pattern: String.raw`net[ \t]use[ \t][^\r\n]{0,200}?/user:\S{1,80}[ \t]{1,4}${WORD}`,
    example: String.raw`net use Z: \\srv\share /user:ada opensesame`,
    counterExample: String.raw`net use Z: \\srv\share /user:ada /persistent:yes`,
    isSecret: isCommandValue,
  }),
  toRule({
    kind: 'command-password',
    pattern: String.raw`net[ \t](?:use[ \t](?:[a-z*]:?[ \t])?\\\\\S{1,100}|user[ \t][\w.-]{1,40})[ \t]{1,4}${WORD}(?=[ \t]{1,4}/(?:user|add))`,
    example: 'net user ada opensesame /add',
    counterExample: 'net user ada /add',
    isSecret: isCommandValue,
  }),
  toRule({
    kind: 'command-password',
    pattern: String.raw`smbclient[ \t]${ARGUMENTS}-U[ ]{0,2}\\{0,15}["']?[\w.\\/-]{1,60}%(?<secret>[^\s"'\x60\\]{3,100})`,
    isExact: true,
    example: 'smbclient //srv/x -U ada%opensesame',
    counterExample: 'smbclient //srv/x -U ada',
  }),
  toRule({
    kind: 'command-password',
    pattern: String.raw`lftp[ \t]${ARGUMENTS}-u[ ]{0,2}\\{0,15}["']?[\w.@-]{1,60},(?<secret>[^\s"'\x60\\]{3,100})`,
    isExact: true,
    example: 'lftp -u ada,opensesame ftp.example.com',
    counterExample: 'lftp -u ada ftp.example.com',
  }),
  toRule({
    kind: 'command-password',
    pattern: String.raw`(?<!\w)echo[ \t](?:-n[ \t])?\\{0,15}["']?(?:[\w.-]{1,40}:)?(?<secret>[^\s"'\x60\\|]{3,200})(?=\\{0,15}["']?[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t](?:-\w[ \t]){0,3}-S|(?:sudo[ \t])?(?:chpasswd|passwd[ \t]--stdin)|(?:docker|podman|helm|oras|crane)[ \t][^\r\n|]{0,200}--password-stdin|gh[ \t]auth))`,
    isExact: true,
    example: 'echo opensesame | sudo -S apt update',
    counterExample: 'echo $PASS | sudo -S apt update',
  }),
  toRule({
    kind: 'command-password',
    pattern: String.raw`--from-literal[= ]\\{0,15}["']?[\w.-]{1,80}=(?<secret>[^\s"'\x60\\]{3,400})`,
    isExact: true,
    example: 'kubectl create secret generic db --from-literal=pin=opensesame',
    counterExample: '--from-literal=a=$A',
  }),
  toRule({
    kind: 'command-password',
    pattern: String.raw`ConvertTo-SecureString(?:[ \t]-String)?[ \t]{1,4}\\{0,15}["'](?<secret>[^"'\r\n\\]{3,200})(?=\\{0,15}["'])`,
    example: 'ConvertTo-SecureString "opensesame" -AsPlainText',
    counterExample: 'ConvertTo-SecureString "$pw"',
  }),
  toRule({
    kind: 'command-password',
    pattern: String.raw`(?:(?:IDENTIFIED|identified)[ \t]{1,4}(?:(?:WITH|with)[ \t]\w{1,40}[ \t])?(?:BY|by)(?:[ \t]PASSWORD)?|(?<![$\w{.-])PASSWORD(?:[ \t]FOR[ \t]\S{1,60})?|(?:with|encrypted|login|set)[ \t]password)(?:[ \t]{1,4}|[ \t]{0,4}=[ \t]{0,4})(?:PASSWORD\()?N?\\{0,15}(?<quote>["'])(?<secret>[^"'\r\n\\]{1,200})(?=\\{0,15}["'])`,
    isExact: true,
    example: `CREATE USER ada IDENTIFIED BY 'opensesame'`,
    counterExample: `IDENTIFIED BY '%s'`,
  }),
  toRule({
    kind: 'command-password',
    pattern: String.raw`(?:[Bb]asic_?[Aa]uth|HTTP(?:Basic|Digest)Auth|NetworkCredential|Password(?:Credential|Authentication)|UsernamePassword\w{0,40}|\.auth|[^\w]auth\s?=\s?|\blogin|\.authenticate|PSCredential)\(\s{0,20}\\{0,15}["'][^"'\r\n\\]{1,100}\\{0,15}["']\s{0,4},\s{0,20}\\{0,15}["'](?<secret>[^"'\s\\]{3,200})(?=\\{0,15}["'])`,
    isExact: true,
    example: "requests.get(url, auth=('ada', 'opensesame'))",
    counterExample: `basicAuth("user", "password")`,
  }),
  toRule({
    kind: 'command-password',
    pattern: String.raw`(?:mysqli?_connect|new[ \t]PDO|getConnection|\.connect)\([^()\r\n]{1,200},\s{0,20}\\{0,15}["'][^"'\r\n\\]{1,60}\\{0,15}["'],\s{0,20}\\{0,15}["'](?<secret>[^"'\s\\]{3,200})(?=\\{0,15}["'])`,
    example: `new PDO($dsn, 'root', 'opensesame')`,
    counterExample: `new PDO($dsn, 'root', '')`,
  }),
  toRule({
    kind: 'command-password',
    pattern: String.raw`jwt\.(?:sign|verify|encode|decode)\([^()"'\r\n]{1,200},\s{0,20}\\{0,15}["'](?<secret>[^"'\s\\]{6,200})(?=\\{0,15}["'])`,
    example: `jwt.sign(payload, 'keyboard-cat')`,
    counterExample: `jwt.sign(payload, secret, { algorithm: 'HS256' })`,
  }),
  toRule({
    kind: 'url-password',
    // A token in the place of a user.
    pattern: String.raw`https?:(?:\\{0,4}/){2}(?<secret>[\w-]{20,256})(?=@)`,
    example: 'https://{40}@github.com/ada/shop.git',
    counterExample: 'https://example.com/@scope/package-name',
    isSecret: isRandom,
  }),
  toRule({
    kind: 'user-password',
    pattern: String.raw`["']auth\\{0,15}["']\s{0,4}:\s{0,4}\\{0,15}["'](?<secret>[A-Za-z0-9+/]{8,1000}={0,2})(?=\\{0,15}["'])`,
    isExact: true,
    example: '{"auths": {"x": {"auth": "YWRhOnB3ZDE="}}}',
    counterExample: '"auth": "required"',
    isSecret: isBasic,
  }),
  toRule({
    kind: 'private-key',
    pattern: String.raw`["'](?:d|dp|dq|qi|k)\\{0,15}["']\s{0,4}:\s{0,4}\\{0,15}["'](?<secret>[\w-]{40,2000})(?=\\{0,15}["'])`,
    isExact: true,
    example: '{"kty":"EC","d":"{43}"}',
    counterExample: '{"d":"M0 0L10 10"}',
    isSecret: hasDigit,
  }),
  toRule({
    kind: 'private-key',
    pattern: String.raw`Private-Lines:\s{0,4}\d{1,4}(?<secret>(?:\s{1,10}[A-Za-z0-9+/=]{4,80}(?![\w+/=:-])){1,200})`,
    isExact: true,
    example: 'Private-Lines: 1\n{64}\n',
    counterExample: 'Private-Lines: 0',
  }),
  toRule({
    kind: 'private-key',
    pattern: String.raw`Private-MAC:\s{0,4}(?<secret>[a-f0-9]{40,64})`,
    isExact: true,
    example: 'Private-MAC: {hex:64}',
    counterExample: 'Private-MAC: none',
  }),
]

/** Secrets after the name of a vendor, or after what they are. */
const others: readonly SecretRule[] = [
  toRule({
    kind: 'vendor-key',
    pattern: String.raw`(?<![A-Za-z])(?<name>(?:${VENDORS})(?:[_. -][\w. (-]{0,30}?|(?:api|app|access|secret|auth|admin|key|token|search|client|pass|user)\w{0,30}?)?)${CLOSE}[ \t]{0,3}(?:=>|:=|[:=,]|is)[ \t]{0,3}\\{0,15}["'\x60]?(?<secret>[\w+/=~-]{14,120})(?![\w.(/])`,
    example: 'algolia_admin = {hex:32}',
    counterExample: 'heroku_app_id = {uuid}',
    isSecret: isVendorKey,
  }),
  toRule({
    kind: 'mnemonic',
    pattern: String.raw`(?:mnemonic|(?:seed|recovery|backup)[ _-]?(?:phrase|words))${CLOSE}\s{0,4}(?:[:=]|is)\s{0,4}\\{0,15}["'\x60]?(?<secret>(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})`,
    example: 'mnemonic = "{words:12}"',
    counterExample: 'mnemonic = generateMnemonic()',
  }),
  toRule({
    pattern: String.raw`(?<![\w-])(?:requirepass|masterauth)[ \t]{1,4}${WORD}`,
    isExact: true,
    example: 'requirepass opensesame',
    counterExample: 'requirepass $PASS',
  }),
]

export const contextRules: readonly SecretRule[] = [
  ...addresses,
  ...headers,
  ...commands,
  ...others,
  toRule({
    kind: 'aws',
    pattern: String.raw`account_?(?:id)?\\{0,3}["']?\s{0,8}(?::|=>|=)\s{0,8}\\{0,3}["']?(?<secret>\d{4}-?\d{4}-?\d{4})\b`,
    example: 'AWS_ACCOUNT_ID="1234-5678-9012"',
    counterExample: 'account: 12',
    isSecret: () => true,
  }),
]
