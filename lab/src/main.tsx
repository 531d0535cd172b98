import { render } from 'preact';
import { App } from './app';
import './style/page.css';
import './style/controls.css';
import './style/rooms.css';
import './style/sheets.css';

render(<App />, document.getElementById('lab') as HTMLElement);
