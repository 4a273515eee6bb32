import DefaultTheme from 'vitepress/theme';
import { defineAsyncComponent } from 'vue';
import './style.css';

export default {
  extends: DefaultTheme,
  enhanceApp({ app }: { app: import('vue').App }) {
    app.component(
      'MermaidPicture',
      defineAsyncComponent(() => import('./MermaidPicture.vue')),
    );
  },
};
