"""JupyterLab's settings for the course: no news, no update check, no extension manager online."""

# Jupyter defines get_config.
c = get_config()

c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
c.LabApp.news_url = None
c.LabApp.extension_manager = "readonly"
