import { render } from 'preact'
import { lazy, LocationProvider, Route, Router } from 'preact-iso'
import { askForChat } from './chat/ahead.ts'
import { Frame } from './frame/frame.tsx'
import { startLive } from './lib/live.ts'
import { followLooks } from './lib/preferences.ts'
import { chatOpenAt } from './search/asked.ts'
import './styles/base.css'
import './styles/frame.css'
import './styles/search.css'

const chatScreen = () => import('./chat/chat.tsx')
if (chatOpenAt(location.pathname) !== null) {
  // Its script first: the messages keep the daemon busy for a moment.
  void chatScreen()
  askForChat()
}
const ChatScreen = lazy(chatScreen)
const StatsScreen = lazy(() => import('./reports/stats.tsx'))
const TokensScreen = lazy(() => import('./reports/tokens.tsx'))
const SafetyScreen = lazy(() => import('./reports/safety.tsx'))
const FilesScreen = lazy(() => import('./files/files.tsx'))
const ProjectsScreen = lazy(() => import('./reports/projects.tsx'))
const SettingsScreen = lazy(() => import('./reports/settings.tsx'))

/** Beside the list, until a chat is opened. */
const NoChatOpen = () => (
  <aside class="no-chat" aria-label="No chat is open">
    <p>Choose a chat to read it here.</p>
    <p class="soft">
      <kbd>j</kbd> <kbd>k</kbd> move in the list, <kbd>Enter</kbd> opens, <kbd>/</kbd> searches, <kbd>?</kbd> shows all
      keys.
    </p>
  </aside>
)

const Nowhere = () => (
  <main id="main" class="column">
    <h1>Nothing here</h1>
    <p>
      This address has no page. <a href="/">Search your chats</a>
    </p>
  </main>
)

const App = () => (
  <LocationProvider>
    <Frame>
      <Router>
        <Route path="/" component={NoChatOpen} />
        <Route path="/chats/:id" component={ChatScreen} />
        <Route path="/projects" component={ProjectsScreen} />
        <Route path="/files" component={FilesScreen} />
        <Route path="/settings" component={SettingsScreen} />
        <Route path="/projects/:id" component={ProjectsScreen} />
        <Route path="/stats" component={StatsScreen} />
        <Route path="/tokens" component={TokensScreen} />
        <Route path="/losses" component={SafetyScreen} />
        <Route path="/archives" component={SafetyScreen} />
        <Route path="/status" component={SettingsScreen} />
        <Route default component={Nowhere} />
      </Router>
    </Frame>
  </LocationProvider>
)

const root = document.querySelector('#page')
if (root !== null) {
  followLooks()
  startLive()
  root.replaceChildren()
  render(<App />, root)
}
